package io.pipeset.record.json;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import io.pipeset.record.format.Snapshot;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

class JsonAgainstJacksonTests {

	private static final int RECORDS = 5_000;

	private final JsonMapper mapper = JsonMapper.builder()
		.enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
		.build();

	@Test
	void keysAndValuesAreWhatJacksonReads() throws Exception {
		for (int seed = 0; seed < RECORDS; seed++) {
			RandomJson random = new RandomJson(seed);
			String key = random.argument();
			String value;
			do {
				value = random.value(4);
			}
			while (value.equals("null"));
			String line = object(random, "\"op\"", "\"SET\"", "\"key\"", key, "\"value\"", value, "\"id\"",
					"\"" + seed + "\"", "\"error\"", random.value(3));
			Snapshot snapshot = Snapshot.line(line);
			assertThat(snapshot.message()).as("seed %d: %s", seed, line).isNull();
			assertThat(snapshot.id()).isEqualTo("" + seed);
			assertThat(snapshot.arguments().get(0)).as("seed %d: %s", seed, line).isEqualTo(argument(key));
			String stored = snapshot.arguments().get(1);
			if (value.startsWith("{") || value.startsWith("[")) {
				assertCompact(seed, value, stored);
			}
			else {
				assertThat(stored).as("seed %d: %s", seed, line).isEqualTo(argument(value));
			}
			assertThat(Snapshot.json("[" + line + "]").get(0).words()).as("seed %d: %s", seed, line)
				.isEqualTo(snapshot.words());
		}
	}

	@Test
	void fieldsAreWhatJacksonReads() {
		for (int seed = 0; seed < RECORDS; seed++) {
			RandomJson random = new RandomJson(seed);
			int count = 1 + random.below((seed % 10 == 0) ? 200 : 6);
			List<String> fields = new ArrayList<>();
			Map<String, String> expected = new LinkedHashMap<>();
			for (int i = 0; i < count; i++) {
				String name = (random.below(3) == 0) ? "\"" + random.below(20) + "\"" : random.string();
				String value = random.argument();
				fields.add(random.space() + name + random.space() + ":" + random.space() + value + random.space());
				expected.put(argument(name), argument(value));
			}
			String line = object(random, "\"op\"", "\"HSET\"", "\"key\"", "\"h\"", "\"fields\"",
					"{" + String.join(",", fields) + "}");
			List<String> words = Snapshot.line(line).words();
			assertThat(words).startsWith("HSET", "h").hasSize(2 + 2 * count);
			// Redis keeps the last value of a name, as Jackson does.
			Map<String, String> kept = new LinkedHashMap<>();
			for (int i = 2; i < words.size(); i += 2) {
				kept.put(words.get(i), words.get(i + 1));
			}
			assertThat(kept).as("seed %d: %s", seed, line).isEqualTo(expected);
		}
	}

	private void assertCompact(int seed, String value, String stored) {
		String text = new String(stored.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
		JsonNode expected = this.mapper.readTree(value);
		assertThat(this.mapper.readTree(text)).as("seed %d: %s", seed, value).isEqualTo(expected);
		assertThat(withoutOuterSpace(text)).as("seed %d: %s", seed, value).isEqualTo(text);
		assertThat(text).as("seed %d: %s", seed, value).isEqualTo(withoutOuterSpace(value));
	}

	private String argument(String json) {
		return Snapshot.utf8((json.startsWith("\"")) ? this.mapper.readTree(json).stringValue() : json);
	}

	private static String withoutOuterSpace(String json) {
		StringBuilder compact = new StringBuilder();
		boolean inString = false;
		for (int i = 0; i < json.length(); i++) {
			char c = json.charAt(i);
			if (inString && c == '\\') {
				compact.append(c).append(json.charAt(++i));
				continue;
			}
			inString ^= c == '"';
			if (inString || " \t\r\n".indexOf(c) < 0) {
				compact.append(c);
			}
		}
		return compact.toString();
	}

	private static String object(RandomJson random, String... namesAndValues) {
		List<String> members = new ArrayList<>();
		for (int i = 0; i < namesAndValues.length; i += 2) {
			members.add(random.space() + namesAndValues[i] + random.space() + ":" + random.space()
					+ namesAndValues[i + 1] + random.space());
		}
		Collections.shuffle(members, new Random(random.below(1_000)));
		return random.space() + "{" + String.join(",", members) + "}" + random.space();
	}

}
