package io.pipeset.project;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.Documentation;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A test that the documentation names is there, and each threat has one. */
class NamedTestsTests {

	private static final Pattern NAMED = Pattern.compile("`(\\w+Tests)(?:\\.(\\w+))?`");

	private static final Pattern METHOD = Pattern.compile("\tvoid (\\w+)\\(");

	@Test
	void eachTestThatAPageNamesIsThere() throws IOException {
		Map<String, List<String>> tests = tests();
		try (Stream<Path> files = Files.walk(Path.of("docs"))) {
			Stream<Path> pages = Stream.concat(files.filter((file) -> file.toString().endsWith(".md")),
					Stream.of(Path.of("README.md"), Path.of("CONTRIBUTING.md")));
			assertThat(pages).allSatisfy(
					(page) -> assertThat(NAMED.matcher(Files.readString(page)).results()).allSatisfy((named) -> {
						assertThat(tests).containsKey(named.group(1));
						if (named.group(2) != null) {
							assertThat(tests.get(named.group(1))).as(named.group(1)).contains(named.group(2));
						}
					}));
		}
	}

	@Test
	void eachThreatHasATestThatTriesIt() throws IOException {
		List<String> threats = Documentation.rows("docs/developers/threats.md", "## Threats", "| ");
		assertThat(threats.subList(2, threats.size())).hasSizeGreaterThan(20)
			.allSatisfy((threat) -> assertThat(
					NAMED.matcher(threat.replaceAll(".*\\|(?=[^|]*\\|$)", "")).results().map(MatchResult::group))
				.isNotEmpty());
	}

	/** The methods of each class of tests. */
	private static Map<String, List<String>> tests() throws IOException {
		try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
			return files.filter((file) -> file.toString().endsWith("Tests.java"))
				.collect(Collectors.toMap((file) -> file.getFileName().toString().replace(".java", ""),
						NamedTestsTests::methods,
						(one, other) -> Stream.of(one, other).flatMap(List::stream).toList()));
		}
	}

	private static List<String> methods(Path file) {
		try {
			return METHOD.matcher(Files.readString(file)).results().map((method) -> method.group(1)).toList();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
