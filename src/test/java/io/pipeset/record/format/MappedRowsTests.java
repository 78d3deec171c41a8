package io.pipeset.record.format;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.AbstractMap.SimpleEntry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import io.pipeset.record.body.Limits;
import io.pipeset.record.body.SplitBody;
import io.pipeset.record.mapping.CellSyntax;
import io.pipeset.record.mapping.Header;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.RandomMapping;
import io.pipeset.record.mapping.RandomMapping.RowValue;
import io.pipeset.record.mapping.Rows;
import io.pipeset.record.mapping.State;
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
	@EnumSource(Kind.class)
	void recordsFollowTheirTemplates(Kind rows) throws IOException {
		for (int seed = 0; seed < BODIES; seed++) {
			RandomMapping random = new RandomMapping(seed);
			Mapping mapping = new Mapping(random.templates(), random.nulls(),
					CellSyntax.PLAIN.separatedBy(rows.delimiter), Header.FIRST_ROW, Rows.OBJECTS);
			Body body = rows.write(new Random(seed), random.nulls());
			List<List<String>> expected = new ArrayList<>();
			for (int i = 0; i < body.rows.size(); i++) {
				expected.addAll(random.records(body.rows.get(i), i));
			}
			byte[] bytes = body.text.toString().getBytes(StandardCharsets.UTF_8);
			for (int piece : new int[] { bytes.length + 1, 1, 2, 3, 7, 1 + seed % 60 }) {
				List<Snapshot> records = Snapshot.readAll(rows.format.open(new SplitBody(bytes.clone(), piece, piece),
						random.operation(), mapping, Limits.ofBytes(1 << 16)));
				String place = "seed " + seed + ", pieces of " + piece + ": " + random + " of " + body.text;
				assertThat(records).as(place).hasSameSizeAs(expected);
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
	private enum Kind {

		CSV(RecordFormat.CSV, ','), SEMICOLONS(RecordFormat.CSV, ';'), TABS_IN_QUOTES(RecordFormat.CSV, '\t'),

		TSV(RecordFormat.TSV, '\t'), NDJSON(RecordFormat.NDJSON, ','), JSON(RecordFormat.JSON, ',');

		private static final RowValue NULL = new RowValue(null, State.NULL);

		private final RecordFormat format;

		private final char delimiter;

		Kind(RecordFormat format, char delimiter) {
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
				Map<String, RowValue> cells = new LinkedHashMap<>();
				for (String name : header) {
					boolean absent = random.nextInt(8) == 0;
					String text = text(random, this == TSV);
					boolean none = absent || (this == TSV && text.isEmpty());
					cells.put(name, (none) ? NULL : new RowValue(text, State.TEXT));
				}
				if (cells.values().stream().allMatch((cell) -> cell.text() == null)) {
					continue;
				}
				writeRow(random, body, cells.values().stream().map(RowValue::text).toList());
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
	private record Cells(Map<String, RowValue> cells, Nulls nulls) implements RandomMapping.Values {

		@Override
		public RowValue get(String name) {
			return this.cells.get(name);
		}

		@Override
		public boolean isTwice(String name) {
			return false;
		}

		@Override
		public boolean isTable() {
			return true;
		}

		@Override
		public List<Map.Entry<String, RowValue>> fields() {
			return List.copyOf(this.cells.entrySet());
		}

		@Override
		public String whole() {
			Map<String, String> members = new LinkedHashMap<>();
			this.cells.forEach((name, cell) -> {
				if (cell.text() != null || this.nulls == Nulls.EMPTY) {
					members.put(name, (cell.text() != null) ? cell.text() : "");
				}
			});
			return JsonMapper.shared().writeValueAsString(members);
		}

	}

	/** An object, written with white space and without. */
	private static final class RandomObject implements RandomMapping.Values {

		private final Map<String, RowValue> members = new LinkedHashMap<>();

		private final Set<String> twice = new HashSet<>();

		private final List<Map.Entry<String, RowValue>> fields = new ArrayList<>();

		private final StringBuilder compact = new StringBuilder("{");

		RandomObject(Random random, StringBuilder text, int depth) {
			text.append('{').append(space(random));
			List<String> names = new ArrayList<>(
					(depth == 0) ? RandomMapping.NAMES : List.of("id", "name", "first", "", "x"));
			Collections.shuffle(names, random);
			int count = (depth == 0) ? names.size() - random.nextInt(3) : random.nextInt(names.size());
			String comma = "";
			for (int i = 0; i < count; i++) {
				// Sometimes a member is repeated, but not in inner objects.
				String name = names.get((depth == 0 && random.nextInt(60) == 0) ? 0 : i);
				String written = (depth == 0) ? quote(random, name) : '"' + name + '"';
				this.compact.append(comma).append(written).append(':');
				text.append(comma)
					.append(space(random))
					.append(written)
					.append(space(random))
					.append(':')
					.append(space(random));
				RowValue value = value(random, text, depth, name);
				text.append(space(random));
				if (this.members.put(name, value) != null) {
					this.twice.add(name);
				}
				this.fields.add(new SimpleEntry<>(name, value));
				comma = ",";
			}
			this.compact.append('}');
			text.append(space(random)).append('}');
		}

		private RowValue value(Random random, StringBuilder text, int depth, String name) {
			int kind = random.nextInt(12);
			if (depth < 2 && (kind < 2 || (kind < 8 && List.of("user", "name", "").contains(name)))) {
				RandomObject inner = new RandomObject(random, text, depth + 1);
				this.compact.append(inner.compact);
				return new RowValue(inner.compact.toString(), State.COMPOSITE);
			}
			if (kind == 10) {
				text.append("null");
				this.compact.append("null");
				return new RowValue(null, State.NULL);
			}
			if (kind == 11) {
				text.append("[ 1 ,\t\"x\" ]");
				this.compact.append("[1,\"x\"]");
				return new RowValue("[1,\"x\"]", State.COMPOSITE);
			}
			if (kind == 9) {
				String literal = List.of("true", "0", "12345678901234567890", (depth == 0) ? "-1.50e3" : "7")
					.get(random.nextInt(4));
				text.append(literal);
				this.compact.append(literal);
				return new RowValue(literal, State.SCALAR);
			}
			// Inside, texts are written as the oracle writes them.
			String string = (depth == 0) ? Kind.text(random, false)
					: Kind.text(random, true).replaceAll("[\u0001\"\\\\]", "_");
			String written = (depth == 0) ? quote(random, string) : '"' + string + '"';
			text.append(written);
			this.compact.append(written);
			return new RowValue(string, State.TEXT);
		}

		@Override
		public RowValue get(String name) {
			return this.members.get(name);
		}

		@Override
		public boolean isTwice(String name) {
			return this.twice.contains(name);
		}

		@Override
		public boolean isTable() {
			return false;
		}

		@Override
		public List<Map.Entry<String, RowValue>> fields() {
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
