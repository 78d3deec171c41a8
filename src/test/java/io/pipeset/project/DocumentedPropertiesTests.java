package io.pipeset.project;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

import io.pipeset.Documentation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The documentation's tables name all limits, with their real defaults. */
class DocumentedPropertiesTests {

	@ParameterizedTest
	@CsvSource({ "docs/limits.md, # Limits, ''", "docs/configuration.md, # Configuration, pipeset.limits." })
	void aTableHasEveryLimitWithItsDefault(String page, String heading, String prefix) throws IOException {
		Map<String, String> documented = new TreeMap<>();
		for (String row : Documentation.rows(page, heading)) {
			String[] cells = row.replace("`", "").split(" *\\| *", -1);
			String[] names = cells[1].split(", ", -1);
			String[] defaults = cells[2].split(", ", -1);
			for (int i = 0; i < names.length && names[0].startsWith(prefix); i++) {
				documented.put(names[i].replace(prefix, ""), defaults[Math.min(i, defaults.length - 1)]);
			}
		}
		documented.keySet().removeIf((name) -> name.contains("."));
		assertThat(documented)
			.as("the table in %s under '%s': change it, or JobLimits, so that they agree", page, heading)
			.isEqualTo(Documentation.properties("pipeset.limits."));
	}

}
