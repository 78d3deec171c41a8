package io.pipeset.project;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Files that name the version agree with the pom. */
class VersionTests {

	@ParameterizedTest
	@CsvSource({ "Dockerfile, ARG VERSION=(\\S+)", "k8s/base/kustomization.yaml, newTag: (\\S+)" })
	void theImageHasTheVersionOfThePom(Path file, String pattern) throws IOException {
		assertThat(found(file, pattern)).containsExactly(version());
	}

	@Test
	void documentsNameTheJarThatTheBuildMakes() throws IOException {
		try (Stream<Path> pages = Files.walk(Path.of("docs"))) {
			List<Path> files = Stream.concat(pages, Stream.of(Path.of("README.md"), Path.of("CONTRIBUTING.md")))
				.filter((file) -> file.toString().endsWith(".md"))
				.toList();
			for (Path file : files) {
				assertThat(found(file, "pipeset-([0-9][^ `*]*)\\.jar")).as(file.toString()).allMatch(version()::equals);
			}
		}
	}

	@Test
	void theChangelogHasASectionOfTheVersion() throws IOException {
		String version = version();
		assertThat(found(Path.of("CHANGELOG.md"), "## (\\S+)").get(0))
			.isEqualTo((version.endsWith("-SNAPSHOT")) ? "Unreleased" : version);
	}

	private static String version() throws IOException {
		return found(Path.of("pom.xml"), "<artifactId>pipeset</artifactId>\\s+<version>([^<]+)</version>").get(0);
	}

	private static List<String> found(Path file, String pattern) throws IOException {
		return Pattern.compile(pattern)
			.matcher(Files.readString(file))
			.results()
			.map((MatchResult result) -> result.group(1))
			.toList();
	}

}
