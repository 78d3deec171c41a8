package io.pipeset.web;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Each recipe works as it stands, and prints what the page shows. */
@ServiceTest
class RecipeTests {

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
		for (String program : List.of("bash", "curl", "jq")) {
			assumeTrue(isThere(program), program + " is not there, with which recipes are run");
		}
		Matcher shell = SHELL.matcher(recipe);
		assertThat(shell.find()).isTrue();
		Path output = folder.resolve("output");
		Path errors = folder.resolve("errors");
		Process process = new ProcessBuilder("bash", "-euo", "pipefail", "-c",
				shell.group(1).replace("localhost:8080", "localhost:" + this.service.port()))
			.directory(folder.toFile())
			.redirectOutput(output.toFile())
			.redirectError(errors.toFile())
			.start();
		try {
			assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
		}
		finally {
			process.descendants().forEach(ProcessHandle::destroy);
			process.destroy();
		}
		assertThat(process.exitValue()).as(() -> text(output) + text(errors)).isZero();
		if (shell.group(2) != null) {
			assertThat(text(output)).endsWith(shell.group(2));
		}
	}

	static Stream<Arguments> recipes() throws IOException {
		return RECIPE.matcher(Files.readString(Path.of("docs", "recipes.md")))
			.results()
			.map((recipe) -> Arguments.of(recipe.group(1), recipe.group(2)));
	}

	private static boolean isThere(String program) throws Exception {
		return new ProcessBuilder("sh", "-c", "command -v " + program).redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start()
			.waitFor() == 0;
	}

	private static String text(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			return ex.toString();
		}
	}

}
