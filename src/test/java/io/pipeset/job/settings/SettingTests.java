package io.pipeset.job.settings;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.pipeset.Documentation;
import io.pipeset.keyspace.AnalysisSettings;
import io.pipeset.record.Operation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** The documentation, the calls and the properties agree with the table of settings. */
class SettingTests {

	private static final Pattern BOUNDS = Pattern.compile("(\\d+) (?:or more|to (\\d+)(?: .*)?)");

	private static final Pattern WORDS = Pattern.compile("\\w+(, \\w+)* or \\w+");

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
	void theConsoleHasTheSettingsOfUploads() throws IOException {
		assertConsole("settings.json", Setting.ALL.stream().filter((row) -> row.isFor("/v1/jobs")).toList());
	}

	@Test
	void theConsoleHasTheSettingsOfAnalyses() throws IOException {
		assertConsole("analysis.json", AnalysisSettings.all());
	}

	private static void assertConsole(String file, List<? extends Setting<?>> rows) throws IOException {
		String json = JsonMapper.builder()
			.enable(SerializationFeature.INDENT_OUTPUT)
			.build()
			.writeValueAsString(rows.stream().map(SettingTests::ofConsole).toList())
			.replace("\r\n", "\n");
		assertThat(Files.readString(Path.of("src/main/resources/console", file)).strip())
			.as("src/main/resources/console/%s: let it be the same as below", file)
			.isEqualTo(json);
	}

	/** A setting as the console asks for it. */
	private static Map<String, Object> ofConsole(Setting<?> row) {
		Map<String, Object> fields = new LinkedHashMap<>();
		fields.put("name", row.name());
		fields.put("allowed", row.allowed().text());
		fields.put("meaning", row.meaning().replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1").replace("`", ""));
		Matcher bounds = BOUNDS.matcher(row.allowed().bounds());
		if (row.name().equals(Setting.OP.name())) {
			fields.put("allowed", "one of the operations");
			fields.put("values", List.of(Operation.names().split(", ", -1)));
		}
		else if (WORDS.matcher(row.allowed().text()).matches()) {
			fields.put("values", List.of(row.allowed().text().split(", | or ", -1)));
		}
		else if (bounds.matches()) {
			fields.put("min", Long.valueOf(bounds.group(1)));
			if (bounds.group(2) != null) {
				fields.put("max", Long.valueOf(bounds.group(2)));
			}
		}
		if (row.byDefault() != null) {
			fields.put("default", row.byDefault());
		}
		return fields;
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

	@ParameterizedTest
	@ValueSource(strings = { "", "batchSize=7 flush=each concurrency=16 timeout=1500ms maxErrors=0 retries=10",
			"flush=buffered:50 results=all op=SET ttl=90s ttlJitter=10% encoding=base64 rateLimit=5 coalesce=off",
			"replicas=2 replicasTimeout=30s atomic=batch dryRun=true results=none nulls=skip",
			"op=HSET key=a:{b.c} fields=x,\"y,\"\"z\" ttl={expires} id={{}}{i} nulls=empty delimiter=tab",
			"op=ZADD key={k} args={s} args={{{m} header=k,s,\"m,\" delimiter=;",
			"op=SET key={k} value={*} header=k,\"\"" })
	void theTextsOfSettingsAreTheSameSettings(String query) {
		Map<String, Deque<String>> texts = new HashMap<>();
		for (String setting : query.split(" ", -1)) {
			String[] parts = setting.split("=", 2);
			texts.computeIfAbsent(parts[0], (name) -> new ArrayDeque<>()).add(parts[parts.length - 1]);
		}
		// Defaults that another process does not have.
		Map<String, String> properties = Map.of("pipeset.defaults.op", "HSET", "pipeset.defaults.coalesce", "off",
				"pipeset.defaults.nulls", "skip", "pipeset.defaults.retries", "3");
		JobSettings settings = new Binder(new MapConfigurationPropertySource(properties))
			.bind("pipeset.defaults", JobDefaults.class)
			.get()
			.toSettings()
			.with((name) -> texts.getOrDefault(name, new ArrayDeque<>()).poll(), "/v1/jobs", null);
		JobSettings same = JobSettings.of(settings.toTexts(), settings.operation());
		assertThat(same.toReport()).hasToString(settings.toReport().toString());
		assertThat(same.only()).isEqualTo(settings.only());
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
				: row.byDefault();
		Object value = (text != null) ? text : row.value().apply(this.defaults);
		return (value != null) ? "`" + value + "`" : "–";
	}

}
