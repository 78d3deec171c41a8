package io.pipeset.web.tuning;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.pipeset.ConsoleRows;
import io.pipeset.Documentation;
import io.pipeset.keyspace.tuning.TuningProperties;
import io.pipeset.keyspace.tuning.TuningSettings;
import io.pipeset.redis.TestRedis;
import io.pipeset.request.JobDefaults;
import io.pipeset.request.Setting;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.web.document.Examples;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;

/** The calls on the page about tunings run, and answer with the fields that it shows. */
@ServiceTest
class TuningPageTests {

	private static final Path PAGE = Path.of("docs", "tuning.md");

	private static final Pattern CALL = Pattern.compile("```sh\ncurl -sS -X POST 'http://localhost:8080([^']+)'\n```");

	private static final Pattern ANSWER = Pattern.compile("```json\n(.*?)```", Pattern.DOTALL);

	private final Service service;

	private final TuningProperties properties;

	private final JobDefaults defaults;

	TuningPageTests(Service service, @Autowired TuningProperties properties, @Autowired JobDefaults defaults) {
		this.service = service;
		this.properties = properties;
		this.defaults = defaults;
	}

	@Test
	void everyCallRunsAndAnswersWithTheFieldsOfTheExample() throws IOException {
		TestRedis.shared().client().flushall();
		String text = Files.readString(PAGE);
		Matcher answer = ANSWER.matcher(text);
		assertThat(answer.find()).isTrue();
		Set<String> fields = fields(JsonMapper.shared().readTree(answer.group(1)));
		List<String> paths = new ArrayList<>();
		Matcher calls = CALL.matcher(text);
		while (calls.find()) {
			paths.add(calls.group(1));
		}
		assertThat(paths).hasSize(2);
		for (String path : paths) {
			// The same with fewer records, since it is not the figures that are tested,
			// but
			// with more than a baseline extrapolates from.
			Answer tuning = this.service.post((path.contains("?")) ? path.replace("records=20000", "records=2500")
					: path + "?records=2500&runs=1");
			Examples.checkAnswer("tune-200-json", tuning);
			assertThat(fields(tuning.json())).isEqualTo(fields);
		}
	}

	@Test
	void theTableOfParametersHasThemAllWithTheirDefaults() throws IOException {
		List<String> names = new ArrayList<>();
		TuningSettings defaults = TuningSettings.read((name) -> null, this.properties, this.defaults);
		for (String row : Documentation.rows(PAGE.toString(), "# Which settings are best here")) {
			String[] cells = row.replace("`", "").split(" *\\| *", -1);
			names.add(cells[1]);
			assertThat(TuningSettings.read(Map.of(cells[1], cells[3])::get, this.properties, this.defaults))
				.as("the default of %s", cells[1])
				.usingRecursiveComparison()
				.ignoringFields("lists")
				.isEqualTo(defaults);
		}
		assertThat(names).isEqualTo(TuningSettings.all().stream().map(Setting::name).toList());
	}

	@Test
	void theConsoleHasTheParametersWithTheirDefaults() throws IOException {
		ConsoleRows.check("tuning.json", TuningSettings.all().stream().map(ConsoleRows::of).toList());
	}

	/** The names of all fields, each with those around it. */
	private static Set<String> fields(JsonNode json) {
		Set<String> fields = new TreeSet<>();
		collect("", json, fields);
		// The settings have the lists that a call has.
		fields.removeAll(Set.of("settings.batchSizes", "settings.flushes", "settings.concurrencies"));
		return fields;
	}

	private static void collect(String path, JsonNode json, Set<String> fields) {
		for (Map.Entry<String, JsonNode> field : json.properties()) {
			fields.add(path + field.getKey());
			collect(path + field.getKey() + ".", field.getValue(), fields);
		}
		if (json.isArray()) {
			json.forEach((element) -> collect(path, element, fields));
		}
	}

}
