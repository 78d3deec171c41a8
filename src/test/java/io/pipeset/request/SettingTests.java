package io.pipeset.request;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.pipeset.ConsoleRows;
import io.pipeset.Documentation;
import io.pipeset.keyspace.AnalysisSettings;
import io.pipeset.record.Operation;
import io.pipeset.record.OperationFinder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** The documentation, calls and properties agree with the table of settings. */
class SettingTests {

	private final JobSettings defaults = new Binder(new MapConfigurationPropertySource())
		.bindOrCreate("pipeset.defaults", JobDefaults.class)
		.toSettings();

	private final Map<String, String> properties = Documentation.properties("pipeset.defaults.");

	@Test
	void theDocumentationHasTheSameSettings() throws IOException {
		assertThat(Documentation.rows("docs/settings.md", "## Settings"))
			.as("the table in docs/settings.md under '## Settings': change it, or Setting, so that they agree")
			.containsExactlyElementsOf(Setting.ALL.stream().map(this::row).toList());
	}

	@Test
	void theConsoleHasTheSettingsOfUploads() throws IOException {
		ConsoleRows.check("settings.json",
				Setting.ALL.stream().filter((row) -> row.isFor("/v1/jobs")).map(ConsoleRows::of).toList());
	}

	@Test
	void theConsoleHasTheSettingsOfAnalyses() throws IOException {
		ConsoleRows.check("analysis.json", AnalysisSettings.all().stream().map(ConsoleRows::of).toList());
	}

	@Test
	void allSettingsOfACallAreReadFromIt() {
		for (String path : List.of("/v1/jobs", "/pipeset", "/listinput")) {
			List<String> asked = new ArrayList<>();
			this.defaults.with((name) -> {
				asked.add(name);
				return null;
			}, path, (path.equals("/v1/jobs")) ? null : Operation.SET, OperationFinder.TABLE);
			assertThat(asked).as("what JobSettings.with takes from a call of %s", path)
				.containsExactlyInAnyOrderElementsOf(Setting.names(path));
		}
	}

	@Test
	void eachSettingWithADefaultIsAProperty() {
		List<String> names = Setting.ALL.stream()
			.filter(Setting::hasDefault)
			.map((row) -> DataObjectPropertyName.toDashedForm(row.name()))
			.toList();
		assertThat(this.properties.keySet())
			.as("the components of JobDefaults, which are the defaults of the rows of Setting")
			.containsExactlyInAnyOrderElementsOf(names);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "batchSize=7 flush=each concurrency=16 timeout=1500ms maxErrors=0 retries=10",
			"flush=buffered:50 results=all op=SET ttl=90s ttlJitter=10% encoding=base64 rateLimit=5 coalesce=off",
			"replicas=2 replicasTimeout=30s atomic=batch dryRun=true results=none nulls=skip",
			"op=HSET key=a:{b.c} fields=x,\"y,\"\"z\" ttl={expires} id={{}}{i} nulls=empty delimiter=tab",
			"op=ZADD key={k} args={s} args={{{m} header=k,s,\"m,\" delimiter=;",
			"op=SET key={k} value={*} header=k,\"\"", "op=HSET expireAt=4102444800.25 ttlJitter=5",
			"op=SET key={k} value=v expireAt={at} nulls=skip", "op=SET key={k} value=v null=\\N null= null=a,b",
			"label=feed callback=https://hooks.example/a?token=secret" })
	void settingsConvertToTextsAndBack(String query) {
		Map<String, Deque<String>> texts = new HashMap<>();
		for (String setting : query.split(" ", -1)) {
			String[] parts = setting.split("=", 2);
			texts.computeIfAbsent(parts[0], (name) -> new ArrayDeque<>()).add(parts[parts.length - 1]);
		}
		// Defaults that differ from those of the process that parses the texts.
		Map<String, String> properties = Map.of("pipeset.defaults.op", "HSET", "pipeset.defaults.coalesce", "off",
				"pipeset.defaults.nulls", "skip", "pipeset.defaults.retries", "3");
		JobSettings settings = new Binder(new MapConfigurationPropertySource(properties))
			.bind("pipeset.defaults", JobDefaults.class)
			.get()
			.toSettings()
			.with((name) -> texts.getOrDefault(name, new ArrayDeque<>()).poll(), "/v1/jobs", null,
					OperationFinder.TABLE);
		JobSettings same = JobSettings.of(settings.toTexts(), settings.records().operation());
		assertThat(same.toReport()).hasToString(settings.toReport().toString());
		assertThat(same.records().only()).isEqualTo(settings.records().only());
		assertThat(same.toTexts()).isEqualTo(settings.toTexts());
	}

	private String row(Setting<?> row) {
		String calls = (row.calls().isEmpty()) ? "all" : "`" + String.join("`, `", row.calls()) + "`";
		return "| `" + row.name() + "` | "
				+ row.allowed().text().replace(Operation.names(), "[the operations](#records)") + " | " + defaultOf(row)
				+ " | " + calls + " | " + row.meaning() + " |";
	}

	private String defaultOf(Setting<?> row) {
		String text = (row.hasDefault()) ? this.properties.get(DataObjectPropertyName.toDashedForm(row.name()))
				: row.defaultValue();
		Object value = (text != null) ? text : row.value().apply(this.defaults);
		return (value != null) ? "`" + value + "`" : "–";
	}

}
