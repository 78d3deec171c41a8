package io.pipeset.project;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.pipeset.Documentation;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The documentation's tables name all limits, with their defaults, and all properties.
 */
class DocumentedPropertiesTests {

	@Test
	void theTableOfLimitsHasEveryLimitWithItsDefault() throws IOException {
		Map<String, String> documented = new TreeMap<>();
		for (String row : Documentation.rows("docs/limits.md", "# Limits")) {
			String[] cells = cells(row);
			documented.put(cells[1], cells[2]);
		}
		documented.keySet().removeIf((name) -> name.contains("."));
		assertThat(documented).as("the table in docs/limits.md: change it, or JobLimits, so that they agree")
			.isEqualTo(Documentation.properties("pipeset.limits."));
	}

	@Test
	void thePageOnConfigurationNamesEveryProperty() throws IOException {
		Set<String> documented = new HashSet<>();
		for (String row : Files.readAllLines(Path.of("docs/configuration.md"))) {
			if (row.startsWith("| `pipeset.")) {
				String[] names = cells(row)[1].split(", ", -1);
				String prefix = names[0].substring(0, names[0].lastIndexOf('.') + 1);
				documented.add(names[0]);
				for (int i = 1; i < names.length; i++) {
					documented.add(prefix + names[i]);
				}
			}
		}
		assertThat(Documentation.properties("pipeset.").keySet())
			.allSatisfy((name) -> assertThat(documented).as("docs/configuration.md has no row for pipeset.%s", name)
				.anyMatch((row) -> isIn(row, "pipeset." + name)));
	}

	/** Whether a row has a property, its group, or a property of its group. */
	private static boolean isIn(String row, String name) {
		boolean group = row.endsWith(".*") && name.startsWith(row.substring(0, row.length() - 1));
		return row.equals(name) || group || row.startsWith(name + ".<");
	}

	private static String[] cells(String row) {
		return row.replace("`", "").split(" *\\| *", -1);
	}

}
