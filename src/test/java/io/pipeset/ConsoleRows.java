package io.pipeset;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.pipeset.record.Operation;
import io.pipeset.request.Setting;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/** Holds the tables of settings in the console against those of the service. */
public final class ConsoleRows {

	private static final Pattern BOUNDS = Pattern.compile("(\\d+) (?:or more|to (\\d+)(?: .*)?)");

	private static final Pattern WORDS = Pattern.compile("\\w+(, \\w+)* or \\w+");

	private ConsoleRows() {
	}

	/**
	 * Checks a file of the console.
	 * @param name the name of the file
	 * @param rows its rows
	 */
	public static void check(String name, List<Map<String, Object>> rows) throws IOException {
		String json = JsonMapper.builder()
			.enable(SerializationFeature.INDENT_OUTPUT)
			.build()
			.writeValueAsString(rows)
			.replace("\r\n", "\n");
		Path file = Path.of("src/main/resources/console", name);
		assertThat(Files.exists(file) ? Files.readString(file).strip() : "").as("%s: let it be the same as below", file)
			.isEqualTo(json);
	}

	/** A setting as the console asks for it. */
	public static Map<String, Object> of(Setting<?> row) {
		Map<String, Object> fields = new LinkedHashMap<>();
		fields.put("name", row.name());
		fields.put("allowed", plain(row.allowed().text()));
		fields.put("meaning", plain(row.meaning()));
		Matcher bounds = BOUNDS.matcher(row.allowed().bounds());
		if (row.name().equals("op") && row.hasDefault()) {
			fields.put("allowed", "one of the operations");
			fields.put("values", List.of(Operation.names().split(", ", -1)));
		}
		else if (WORDS.matcher(row.allowed().text()).matches()) {
			fields.put("values", List.of(row.allowed().text().split(", | or ", -1)));
		}
		else if (bounds.matches() && !row.allowed().text().endsWith(" characters")) {
			fields.put("min", Long.valueOf(bounds.group(1)));
			if (bounds.group(2) != null) {
				fields.put("max", Long.valueOf(bounds.group(2)));
			}
		}
		if (row.defaultValue() != null) {
			fields.put("defaultValue", row.defaultValue());
		}
		return fields;
	}

	private static String plain(String text) {
		return text.replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1").replace("`", "");
	}

}
