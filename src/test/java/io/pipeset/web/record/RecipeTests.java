package io.pipeset.web.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Shell;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each recipe for a service that runs works as it stands, and prints what the page shows.
 */
@ServiceTest
class RecipeTests {

	private static final List<String> PAGES = List.of("recipes.md", "reshape.md");

	/** It needs a driver, and a query of the service. */
	private static final String OF_DUCKDB = "SQL over files";

	private static final Pattern RECIPE = Pattern.compile("## ([^\n]*)\n(.*?)(?=\n## |\\z)", Pattern.DOTALL);

	private static final Pattern SHELL = Pattern.compile("```sh\n(.*?)```(?:\n\n```\n(.*?)```)?", Pattern.DOTALL);

	private final Service service;

	RecipeTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		TestRedis.shared().client().flushall();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("recipes")
	void worksAsItStands(String name, String recipe, @TempDir Path folder) throws Exception {
		Matcher shell = SHELL.matcher(recipe);
		assertThat(shell.find()).isTrue();
		FileSystemUtils.copyRecursively(Path.of("docs", "clients"), folder.resolve(Path.of("docs", "clients")));
		String output = new Shell(folder, this.service.port()).run(untilLookedAt(shell.group(1)));
		if (shell.group(2) != null) {
			assertThat(output).endsWith(shell.group(2));
		}
	}

	/** Slows a load whose progress is shown, until the shell has found it. */
	private static String untilLookedAt(String commands) {
		return commands.replace("rateLimit=50000", "rateLimit=1000")
			.replace("curl -sSN ",
					"curl -sS -o patched.json -X PATCH \"http://localhost:8080/v1/jobs/$id?rateLimit=50000\"\n"
							+ "curl -sSN ");
	}

	static Stream<Arguments> recipes() throws IOException {
		StringBuilder pages = new StringBuilder();
		for (String page : PAGES) {
			pages.append(Files.readString(Path.of("docs", page))).append('\n');
		}
		return RECIPE.matcher(pages)
			.results()
			.filter((recipe) -> !DeploymentRecipeTests.RECIPES.contains(recipe.group(1))
					&& !recipe.group(1).equals(OF_DUCKDB))
			.map((recipe) -> Arguments.of(recipe.group(1), recipe.group(2)));
	}

}
