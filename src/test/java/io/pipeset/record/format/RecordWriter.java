package io.pipeset.record.format;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;

import io.pipeset.record.Operation;

/**
 * Writes commands in every format. A seed chooses one of the many spellings of each
 * command. Characters up to U+00FF stand for bytes.
 */
public final class RecordWriter {

	private static final String[] TELLING = { "\"", "'", "\\", ",", "\n", "\r\n", "\r", " ", "\t", "*1\r\n", "$-1\r\n",
			"FLUSHALL\r\n", "{", "]", "\u00c3\u00a9", "\u00f0\u009f\u0098\u0080", "\u00ef\u00bb\u00bf", "\\x00", "\"\"",
			"x", "\u0001", "\u007f" };

	private final Random random;

	/**
	 * Creates a writer from a seed.
	 * @param seed chooses commands and spellings
	 */
	public RecordWriter(long seed) {
		this.random = new Random(seed);
	}

	/**
	 * Random commands of the table.
	 * @param utf8 whether their words are UTF-8; otherwise they may be any bytes
	 * @return the name and arguments of each
	 */
	public List<List<String>> commands(boolean utf8) {
		List<List<String>> commands = new ArrayList<>();
		for (int i = below(5); i >= 0; i--) {
			List<String> words = new ArrayList<>(List.of("SET", word(utf8), word(utf8)));
			switch (below(5)) {
				case 0 -> words.set(0, "LPUSH");
				case 1 -> {
					words.set(0, "HSET");
					words.add(word(utf8));
				}
				case 2 -> {
					words.set(0, "DEL");
					words.add(word(utf8));
				}
				case 3 -> words = new ArrayList<>(List.of("RPOP", word(utf8), "" + below(100)));
				default -> words.addAll(List.of("EX", "60"));
			}
			commands.add(words);
		}
		return commands;
	}

	/**
	 * The same commands, without words that a cell without quotes cannot hold.
	 * @param commands the commands
	 * @return the commands with other words in these positions
	 */
	public static List<List<String>> plain(List<List<String>> commands) {
		return commands.stream()
			.map((words) -> words.stream()
				.map((word) -> (word.isEmpty()) ? "_" : word.replaceAll("[\t\r\n]", "_"))
				.toList())
			.toList();
	}

	private String ndjson(List<List<String>> commands) {
		StringBuilder body = new StringBuilder();
		commands.forEach((words) -> body.append(blank()).append(array(words)).append(lineEnd()));
		return end(body);
	}

	private String json(List<List<String>> commands) {
		List<String> elements = new ArrayList<>();
		commands.forEach((words) -> elements.add(blank() + array(words)));
		return "[" + String.join(" ,", elements) + "]" + blank();
	}

	/** A body whose rows name their operations. */
	private String rows(List<List<String>> commands, String delimiter) {
		boolean quotes = delimiter.equals(",");
		int most = commands.stream().mapToInt(List::size).max().orElse(0);
		List<String> header = new ArrayList<>(List.of("op", "key"));
		for (int i = 2; i < most; i++) {
			header.add("arg" + (i - 1));
		}
		StringBuilder body = new StringBuilder(String.join(delimiter, header)).append(lineEnd());
		for (List<String> words : commands) {
			List<String> cells = new ArrayList<>();
			words.forEach((word) -> cells.add((quotes) ? cell(word) : cased(word)));
			for (int i = words.size() + below(2); i < most; i++) {
				cells.add("");
			}
			body.append((below(4) == 0) ? lineEnd() : "").append(String.join(delimiter, cells)).append(lineEnd());
		}
		return end(body);
	}

	private String text(List<List<String>> commands) {
		StringBuilder body = new StringBuilder();
		commands.forEach((words) -> body.append(blank()).append(line(words)).append(lineEnd()));
		return end(body);
	}

	private String resp(List<List<String>> commands) {
		StringBuilder body = new StringBuilder();
		for (List<String> words : commands) {
			body.append((below(4) == 0) ? "\r\n*0\r\n" : "");
			if (below(4) == 0) {
				body.append(line(words)).append(lineEnd());
				continue;
			}
			body.append('*').append(words.size()).append("\r\n");
			words.forEach((word) -> body.append('$').append(word.length()).append("\r\n").append(word).append("\r\n"));
		}
		return body.toString();
	}

	/**
	 * A body of commands.
	 * @param mediaType its format
	 * @param commands the commands
	 * @return the body
	 */
	public String write(String mediaType, List<List<String>> commands) {
		return switch (mediaType) {
			case "application/x-ndjson" -> ndjson(commands);
			case "application/json" -> json(commands);
			case "text/csv" -> rows(commands, ",");
			case "text/tab-separated-values" -> rows(commands, "\t");
			case "text/plain" -> text(commands);
			case "application/x-redis-resp" -> resp(commands);
			default -> throw new AssertionError(mediaType);
		};
	}

	private int below(int bound) {
		return this.random.nextInt(bound);
	}

	private String word(boolean utf8) {
		StringBuilder word = new StringBuilder();
		for (int i = below(6); i > 0; i--) {
			word.append((below(2) == 0) ? "k" + below(10) : TELLING[below(TELLING.length)]);
			word.append((utf8 || below(4) > 0) ? "" : (char) below(256));
		}
		return word.toString();
	}

	private String line(List<String> words) {
		List<String> written = new ArrayList<>();
		for (String word : words) {
			boolean plain = !word.isEmpty()
					&& word.chars().allMatch((c) -> c > ' ' && c < 0x7F && c != '"' && c != '\'');
			boolean single = word.chars().allMatch((c) -> c >= ' ' && c < 0x7F && c != '\\');
			written.add((plain && below(2) == 0) ? cased(word)
					: (single && below(2) == 0) ? "'" + word.replace("'", "\\'") + "'" : doubleQuoted(word));
		}
		return String.join((below(8) == 0) ? " \t " : " ", written);
	}

	private String doubleQuoted(String word) {
		StringBuilder quoted = new StringBuilder("\"");
		for (int i = 0; i < word.length(); i++) {
			char c = word.charAt(i);
			boolean escape = c < ' ' || c >= 0x7F || below(8) == 0;
			quoted.append((escape) ? String.format("\\x%02x", (int) c) : (c == '"' || c == '\\') ? "\\" + c : "" + c);
		}
		return quoted.append('"').toString();
	}

	private String cell(String word) {
		boolean quoted = word.isEmpty() || below(3) == 0 || word.chars().anyMatch((c) -> "\",\r\n".indexOf(c) >= 0);
		return (quoted) ? "\"" + word.replace("\"", "\"\"") + "\"" : cased(word);
	}

	private String array(List<String> words) {
		List<String> strings = new ArrayList<>();
		for (String word : words) {
			StringBuilder string = new StringBuilder("\"");
			for (int i = 0; i < word.length(); i++) {
				char c = word.charAt(i);
				string.append(
						(c < ' ') ? String.format("\\u%04x", (int) c) : (c == '"' || c == '\\') ? "\\" + c : "" + c);
			}
			strings.add(string.append('"').toString());
		}
		return "[" + String.join(", ", strings) + "]";
	}

	private String cased(String word) {
		return (Operation.find(word) != null && below(2) == 0) ? word.toLowerCase(Locale.ROOT) : word;
	}

	private String blank() {
		return (below(4) == 0) ? " \r\n\t" : "";
	}

	private String lineEnd() {
		return (below(2) == 0) ? "\n" : "\r\n";
	}

	private String end(StringBuilder body) {
		String bom = (below(4) == 0)
				? new String("\ufeff".getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1) : "";
		return bom + ((below(2) == 0) ? body.toString() : body.toString().replaceFirst("\\r?\\n$", ""));
	}

}
