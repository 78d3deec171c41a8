package io.pipeset;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads the tables of the documentation, and the properties that the build describes to
 * editors.
 */
public final class Documentation {

	private static final Pattern SHELL = Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL);

	private Documentation() {
	}

	/**
	 * The rows of a section's table whose first cell is code.
	 * @param page the file
	 * @param heading the whole line above the section
	 * @return the lines
	 */
	public static List<String> rows(String page, String heading) throws IOException {
		return rows(page, heading, "| `");
	}

	/**
	 * The rows of a section's tables.
	 * @param page the file
	 * @param heading the whole line above the section
	 * @param beginning the beginning of the rows
	 * @return the lines
	 */
	public static List<String> rows(String page, String heading, String beginning) throws IOException {
		return section(page, heading).stream().filter((line) -> line.startsWith(beginning)).toList();
	}

	/**
	 * The commands of a section's blocks of shell.
	 * @param page the file
	 * @param heading the whole line above the section
	 * @return the commands in their order, each in one line
	 */
	public static List<String> commands(String page, String heading) throws IOException {
		String section = String.join("\n", section(page, heading));
		return SHELL.matcher(section)
			.results()
			.flatMap((block) -> block.group(1).replaceAll("\\\\\n *", "").lines())
			.toList();
	}

	/**
	 * The service's own properties.
	 * @param prefix the beginning of their names
	 * @return the default of each, {@code null} for none, by its name without the prefix
	 */
	public static Map<String, @Nullable String> properties(String prefix) {
		InputStream json = Documentation.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json");
		Map<String, @Nullable String> defaults = new TreeMap<>();
		for (JsonNode property : JsonMapper.shared().readTree(json).get("properties")) {
			String name = property.get("name").asString();
			if (name.startsWith(prefix)) {
				defaults.put(name.substring(prefix.length()), property.path("defaultValue").asString(null));
			}
		}
		return defaults;
	}

	private static List<String> section(String page, String heading) throws IOException {
		return Files.readAllLines(Path.of(page))
			.stream()
			.dropWhile((line) -> !line.equals(heading))
			.skip(1)
			.takeWhile((line) -> !line.startsWith("## "))
			.toList();
	}

}
