package io.pipeset.job.settings;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.pipeset.Documentation;
import io.pipeset.pop.ReliablePops;
import io.pipeset.record.Operation;
import io.pipeset.report.DurationText;
import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** The documentation, the calls and the properties agree with the table of settings. */
class SettingTests {

	private final JobSettings defaults = new Binder(new MapConfigurationPropertySource())
		.bindOrCreate("pipeset.defaults", JobDefaults.class)
		.toSettings();

	private final Map<String, String> properties = Documentation.properties("pipeset.defaults.");

	@Test
	void theDocumentationHasTheSameRows() throws IOException {
		assertThat(Documentation.rows("docs/http.md", "## Settings"))
			.as("the table in docs/http.md under '## Settings': change it, or Setting, so that they agree")
			.containsExactlyElementsOf(Setting.ALL.stream().map(this::row).toList());
	}

	@Test
	void aCallIsAskedForEachSettingThatItHas() {
		for (String path : List.of("/v1/jobs", "/pipeset", "/listinput")) {
			List<String> asked = new ArrayList<>();
			this.defaults.with((name) -> {
				asked.add(name);
				return null;
			}, path, (path.equals("/v1/jobs")) ? null : Operation.SET);
			assertThat(asked).as("what JobSettings.with takes from a call of %s", path)
				.containsExactlyInAnyOrderElementsOf(Setting.names(path));
		}
	}

	@Test
	void eachSettingOfAllJobsIsAProperty() {
		List<String> names = Setting.ALL.stream()
			.filter(Setting::hasDefault)
			.map((row) -> DataObjectPropertyName.toDashedForm(row.name()))
			.toList();
		assertThat(this.properties.keySet())
			.as("the components of JobDefaults, which are the defaults of the rows of Setting")
			.containsExactlyInAnyOrderElementsOf(names);
	}

	private String row(Setting<?> row) {
		String calls = (row.calls().isEmpty()) ? "all" : "`" + String.join("`, `", row.calls()) + "`";
		return "| `" + row.name() + "` | "
				+ row.allowed().text().replace(Operation.names(), "[the operations](#records)") + " | " + defaultOf(row)
				+ " | " + calls + " | " + row.meaning() + " |";
	}

	private String defaultOf(Setting<?> row) {
		String text = switch (row.name()) {
			case "reliable" -> "false";
			case "receiptTtl" -> DurationText.of(ReliablePops.DEFAULT_RECEIPT_TTL);
			default -> this.properties.get(DataObjectPropertyName.toDashedForm(row.name()));
		};
		Object value = (text != null) ? text : row.report().apply(this.defaults);
		return (value != null) ? "`" + value + "`" : "–";
	}

}
