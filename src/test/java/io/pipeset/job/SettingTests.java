package io.pipeset.job;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.pipeset.Documentation;
import io.pipeset.record.Operation;
import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** Callers and operators find the table of settings where they look for it. */
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
	void eachSettingOfAllJobsIsAProperty() {
		List<String> names = Setting.ALL.stream()
			.filter((row) -> row.calls() != Setting.Calls.POPS)
			.map((row) -> DataObjectPropertyName.toDashedForm(row.name()))
			.toList();
		assertThat(this.properties.keySet())
			.as("the components of JobDefaults, which are the defaults of the rows of Setting")
			.containsExactlyInAnyOrderElementsOf(names);
	}

	private String row(Setting<?> row) {
		return "| `" + row.name() + "` | "
				+ row.allowed().text().replace(Operation.names(), "[the operations](#records)") + " | " + defaultOf(row)
				+ " | " + calls(row) + " | " + row.meaning() + " |";
	}

	private String defaultOf(Setting<?> row) {
		String text = switch (row.name()) {
			case "reliable" -> "false";
			case "receiptTtl" -> JobSettings.text(JobInput.ReliablePops.DEFAULT_RECEIPT_TTL);
			default -> this.properties.get(DataObjectPropertyName.toDashedForm(row.name()));
		};
		Object value = (text != null) ? text : row.report().apply(this.defaults);
		return (value != null) ? "`" + value + "`" : "–";
	}

	private static String calls(Setting<?> row) {
		Map<Operation, String> paths = new LinkedHashMap<>();
		paths.put(null, "`/v1/jobs`");
		paths.put(Operation.SET, "`/pipeset`");
		paths.put(Operation.HSET, "`/pipehset`");
		paths.put(Operation.RPOP, "`/piperpop`");
		paths.put(Operation.LPUSH, "`/listinput`");
		return (row.calls() == Setting.Calls.ALL) ? "all"
				: paths.entrySet()
					.stream()
					.filter((path) -> row.isFor(path.getKey()))
					.map(Map.Entry::getValue)
					.collect(Collectors.joining(", "));
	}

}
