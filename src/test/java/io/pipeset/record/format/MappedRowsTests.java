package io.pipeset.record.format;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.AbstractMap.SimpleEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import io.pipeset.record.body.Limits;
import io.pipeset.record.body.SplitBody;
import io.pipeset.record.mapping.CellSyntax;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.RandomMapping;
import io.pipeset.record.mapping.RandomMapping.Value;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Templates build the records that the documentation describes, from rows and objects of
 * every format, in pieces of every size.
 */
@Timeout(120)
class MappedRowsTests {

	private static final int BODIES = Integer.getInteger("fuzz.bodies", 500);

	private static final String[] TELLING = { "", "a", "\"", ",", "\t", ";", "\n", "\r", "\\", "{", "}", "é", "😀",
			"\u0001", " ", "7", "4.50" };

	@ParameterizedTest
	@EnumSource(Rows.class)
	void recordsFollowTheirTemplates(Rows rows) throws IOException {
		for (int seed = 0; seed < BODIES; seed++) {
			RandomMapping random = new RandomMapping(seed);
			Mapping mapping = new Mapping(random.templates(), random.nulls(),
					new CellSyntax(rows.delimiter, false, null, false), null, false);
			Body body = rows.write(new Random(seed), random.nulls());
			List<List<String>> expected = new ArrayList<>();
			for (int i = 0; i < body.rows.size(); i++) {
				expected.addAll(random.records(body.rows.get(i), i));
			}
			byte[] bytes = body.text.toString().getBytes(StandardCharsets.UTF_8);
			for (int piece : new int[] { bytes.length + 1, 1, 2, 3, 7, 1 + seed % 60 }) {
				List<Snapshot> records = Snapshot.readAll(rows.format.open(new SplitBody(bytes.clone(), piece, piece),
						random.operation(), mapping, Limits.ofBytes(1 << 16)));
				assertThat(records).as("seed %d", seed).hasSameSizeAs(expected);
				String place = "seed " + seed + ", pieces of " + piece;
				for (int i = 0; i < records.size(); i++) {
					assertRecord(records.get(i), expected.get(i), place);
				}
			}
		}
	}

	private static void assertRecord(Snapshot record, List<String> expected, String description) {
		if (expected.size() == 1) {
			assertThat(record.code()).as(description).isEqualTo("MALFORMED");
			assertThat(record.message()).as(description).contains(expected.get(0));
		}
		else {
			assertThat(record.message()).as(description).isNull();
			assertThat(record.words()).as(description).isEqualTo(expected.stream().map(Snapshot::utf8).toList());
		}
	}

	/** Rows of a format. */
	private enum Rows {

		CSV(RecordFormat.CSV, ','), SEMICOLONS(RecordFormat.CSV, ';'), TABS_IN_QUOTES(RecordFormat.CSV, '\t'),

		TSV(RecordFormat.TSV, ','), NDJSON(RecordFormat.NDJSON, ','), JSON(RecordFormat.JSON, ',');

		private final RecordFormat format;

		private final char delimiter;

		Rows(RecordFormat format, char delimiter) {
			this.format = format;
			this.delimiter = delimiter;
		}

		Body write(Random random, Nulls nulls) {
			Body body = new Body();
			switch (this) {
				case NDJSON -> {
					for (int i = random.nextInt(4); i >= 0; i--) {
						body.rows.add(new RandomObject(random, body.text, 0));
						body.text.append((random.nextBoolean()) ? "\n" : "\r\n");
					}
				}
				case JSON -> {
					boolean array = random.nextBoolean();
					body.text.append((array) ? " [ " : "");
					for (int i = random.nextInt(4); i >= 0; i--) {
						body.rows.add(new RandomObject(random, body.text, 0));
						body.text.append((array && i > 0) ? "\n,\n" : "\n");
					}
					body.text.append((array) ? "]" : "");
				}
				default -> writeCells(random, nulls, body);
			}
			return body;
		}

		private void writeCells(Random random, Nulls nulls, Body body) {
			List<String> header = new ArrayList<>(RandomMapping.NAMES);
			header.add("further");
			Collections.shuffle(header, random);
			body.text.append((random.nextInt(4) == 0) ? "\ufeff" : "");
			writeRow(random, body, header);
			for (int i = random.nextInt(4); i >= 0; i--) {
				Map<String, Value> cells = new LinkedHashMap<>();
				for (String name : header) {
					boolean absent = random.nextInt(8) == 0;
					String text = text(random, this == TSV);
					cells.put(name, new Value((absent || (this == TSV && text.isEmpty())) ? null : text));
				}
				if (cells.values().stream().allMatch((cell) -> cell.text() == null)) {
					continue;
				}
				writeRow(random, body, cells.values().stream().map(Value::text).toList());
				body.rows.add(new Cells(cells, nulls));
			}
		}

		private void writeRow(Random random, Body body, List<String> cells) {
			String separator = "";
			for (String cell : cells) {
				body.text.append(separator);
				if (cell != null) {
					boolean quoted = this != TSV && (cell.isEmpty() || random.nextInt(4) == 0
							|| cell.chars().anyMatch((c) -> "\"\r\n".indexOf(c) >= 0 || c == this.delimiter));
					body.text.append((quoted) ? "\"" + cell.replace("\"", "\"\"") + "\"" : cell);
				}
				separator = (this == TSV) ? "\t" : String.valueOf(this.delimiter);
			}
			body.text.append((random.nextBoolean()) ? "\n" : "\r\n");
		}

		static String text(Random random, boolean plain) {
			StringBuilder text = new StringBuilder();
			for (int i = random.nextInt(4); i > 0; i--) {
				text.append(TELLING[random.nextInt(TELLING.length)]);
			}
			return (plain) ? text.toString().replaceAll("[\t\r\n]", "_") : text.toString();
		}

	}

	/** A body, and its rows. */
	private static final class Body {

		private final StringBuilder text = new StringBuilder();

		private final List<RandomMapping.Values> rows = new ArrayList<>();

	}

	/** A row of cells, of which some are empty without quotes. */
	private record Cells(Map<String, Value> cells, Nulls nulls) implements RandomMapping.Values {

		@Override
		public Value get(String name) {
			return this.cells.get(name);
		}

		@Override
		public List<Map.Entry<String, Value>> fields() {
			return this.cells.entrySet()
				.stream()
				.filter((cell) -> this.nulls == Nulls.EMPTY || cell.getValue().text() != null)
				.toList();
		}

		@Override
		public String whole() {
			Map<String, String> members = new LinkedHashMap<>();
			fields().forEach((cell) -> members.put(cell.getKey(),
					(cell.getValue().text() != null) ? cell.getValue().text() : ""));
			return JsonMapper.shared().writeValueAsString(members);
		}

	}

	/** An object, written with white space and without. */
	private static final class RandomObject implements RandomMapping.Values {

		private final Map<String, Value> members = new LinkedHashMap<>();

		private final Map<String, RandomObject> objects = new LinkedHashMap<>();

		private final List<Map.Entry<String, Value>> fields = new ArrayList<>();

		private final StringBuilder compact = new StringBuilder("{");

		RandomObject(Random random, StringBuilder text, int depth) {
			text.append('{').append(space(random));
			List<String> names = new ArrayList<>(
					(depth == 0) ? RandomMapping.NAMES : List.of("id", "name", "first", "", "x"));
			Collections.shuffle(names, random);
			int count = (depth == 0) ? names.size() - random.nextInt(3) : random.nextInt(names.size());
			String comma = "";
			for (int i = 0; i < count; i++) {
				// Sometimes a member is repeated.
				String name = names.get((random.nextInt(9) == 0) ? 0 : i);
				String written = quote(random, name);
				this.compact.append(comma).append(written).append(':');
				text.append(comma)
					.append(space(random))
					.append(written)
					.append(space(random))
					.append(':')
					.append(space(random));
				Value value = value(random, text, depth, name);
				text.append(space(random));
				this.members.put(name, value);
				this.fields.add(new SimpleEntry<>(name, value));
				comma = ",";
			}
			this.compact.append('}');
			text.append(space(random)).append('}');
		}

		private Value value(Random random, StringBuilder text, int depth, String name) {
			this.objects.remove(name);
			int kind = random.nextInt(12);
			if (depth < 2 && (kind < 2 || (kind < 8 && List.of("user", "name", "").contains(name)))) {
				RandomObject inner = new RandomObject(random, text, depth + 1);
				this.objects.put(name, inner);
				this.compact.append(inner.compact);
				return new Value(inner.compact.toString());
			}
			if (kind == 10) {
				text.append("null");
				this.compact.append("null");
				return new Value(null);
			}
			if (kind == 11) {
				text.append("[ 1 ,\t\"x\" ]");
				this.compact.append("[1,\"x\"]");
				return new Value("[1,\"x\"]");
			}
			if (kind == 9) {
				String literal = List.of("true", "-1.50e3", "0", "12345678901234567890").get(random.nextInt(4));
				text.append(literal);
				this.compact.append(literal);
				return new Value(literal);
			}
			String string = Rows.text(random, false);
			String written = quote(random, string);
			text.append(written);
			this.compact.append(written);
			return new Value(string);
		}

		@Override
		public Value get(String name) {
			if (this.members.containsKey(name)) {
				return this.members.get(name);
			}
			return path(Arrays.asList(name.split("\\.", -1)));
		}

		private Value path(List<String> path) {
			String first = path.get(0);
			if (path.size() == 1) {
				return this.members.get(first);
			}
			RandomObject inner = this.objects.get(first);
			Value member = this.members.get(first);
			return (inner != null) ? inner.path(path.subList(1, path.size()))
					: (member != null && member.text() == null) ? member : null;
		}

		@Override
		public List<Map.Entry<String, Value>> fields() {
			return this.fields;
		}

		@Override
		public String whole() {
			return this.compact.toString();
		}

		private static String space(Random random) {
			return new String[] { "", "", " ", "\t ", "\r " }[random.nextInt(5)];
		}

		/** A string in quotes, of which some characters are escaped. */
		private static String quote(Random random, String text) {
			StringBuilder json = new StringBuilder("\"");
			for (int i = 0; i < text.length(); i++) {
				char c = text.charAt(i);
				boolean escape = c < ' ' || c == '"' || c == '\\'
						|| (!Character.isSurrogate(c) && random.nextInt(8) == 0);
				json.append((escape) ? String.format("\\u%04x", (int) c) : String.valueOf(c));
			}
			return json.append('"').toString();
		}

	}

}
