package io.pipeset.project;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Each link of a page to another file, or to a heading, leads somewhere. */
class PageLinksTests {

	private static final Pattern LINK = Pattern.compile("\\]\\((?![a-z]+:)([^)\\s#]*)(?:#([^)\\s]+))?\\)");

	private static final Pattern CODE = Pattern.compile("(?ms)^```.*?^```$");

	@Test
	void eachLinkLeadsToAFileAndAHeadingThatAreThere() throws IOException {
		try (Stream<Path> files = Files.walk(Path.of("docs"))) {
			List<Path> pages = Stream
				.concat(files.filter((file) -> file.toString().endsWith(".md")),
						Stream.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md").map(Path::of))
				.toList();
			assertThat(pages).hasSizeGreaterThan(50)
				.allSatisfy((page) -> assertThat(LINK.matcher(withoutCode(page)).results()).allSatisfy((link) -> {
					Path target = (link.group(1).isEmpty()) ? page : page.resolveSibling(link.group(1)).normalize();
					assertThat(target).exists();
					if (link.group(2) != null) {
						assertThat(headings(target)).as(target.toString()).contains(link.group(2));
					}
				}));
		}
	}

	/** The names that links have for the headings of a page. */
	private static List<String> headings(Path page) {
		return withoutCode(page).lines()
			.filter((line) -> line.matches("#+ .*"))
			.map((line) -> line.replaceAll("\\[([^]]*)\\]\\([^)]*\\)", "$1")
				.replaceFirst("#+ ", "")
				.toLowerCase(Locale.ROOT)
				.replaceAll("[^\\p{L}\\p{N}_ -]", "")
				.replace(' ', '-'))
			.toList();
	}

	private static String withoutCode(Path page) {
		try {
			return CODE.matcher(Files.readString(page)).replaceAll("");
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
