package io.pipeset.input.source;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import io.pipeset.record.OperationFinder;
import io.pipeset.record.Record;
import io.pipeset.record.body.Limits;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.format.Snapshot;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.request.InvalidSettingException;
import io.pipeset.request.JobDefaults;
import io.pipeset.request.JobSettings;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.aggregator.ArgumentsAccessor;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The table of {@code docs/templates.md}, cell by cell: what becomes of a value that is
 * absent, null, empty or composite in each place, for rows of each format.
 */
class ValuesByPlaceTests {

	private static final JobSettings DEFAULTS = new Binder(new MapConfigurationPropertySource())
		.bindOrCreate("pipeset.defaults", JobDefaults.class)
		.toSettings();

	/**
	 * The row has an id, 7, and the value as {@code v}, as the element of {@code a} after
	 * 1, or as the member {@code b} of {@code o} after {@code "a":1}. The command that is
	 * made has the value at {@code _}; what stands in brackets is left out with it. The
	 * value is an array, {@code [1,"x"]}, an object, {@code {"p":1}}, or the array as a
	 * text. Several words are for {@code nulls} of refuse, skip, empty and delete.
	 */
	@ParameterizedTest(name = "{0}")
	@CsvSource(delimiterString = " | ", quoteCharacter = '~',
			textBlock = """
					# a key                                             | made                     | absent              | null                       | ''                  | array   | object  | text of an array
					op=SET&key={v}&value={id}                           | SET _ 7                  | refused             | refused                    | refused             | refused | refused | refused
					op=SET&key=k:{v}&value={id}                         | SET k:_ 7                | refused             | refused                    | refused             | refused | refused | refused
					op=SET&key={id}:{v}&value=x                         | SET 7:_ x                | refused             | refused                    | ''                  | refused | refused | refused
					op=SET&key={v|d}&value=x                            | SET _ x                  | d                   | d                          | refused             | refused | refused | refused
					op=DEL&key={id}&args={v}                            | DEL 7 _                  | refused             | refused                    | refused             | refused | refused | refused
					op=DEL&key={id}&args={v...}                         | DEL 7 _                  | refused             | refused                    | refused             | parts   | refused | parts
					command=DEL {a...}                                  | DEL 1 [_]                | out                 | refused out refused        | refused             | refused | refused | refused
					op=MSET&key={v}&args={id}                           | MSET _ 7                 | refused             | refused                    | refused             | refused | refused | refused
					command=MSET {v...}                                 | MSET _                   | refused             | refused                    | refused             | refused | parts   | refused
					command=SET {v} {id}                                | SET _ 7                  | refused             | refused                    | refused             | refused | refused | refused
					# 'value'
					op=SET&key=k{id}&value={v}                          | SET k7 _                 | refused             | refused refused '' DEL     | ''                  | itself  | itself  | itself
					op=SET&key=k{id}&value=-{v}                         | SET k7 -_                | refused             | refused refused '' refused | ''                  | itself  | itself  | itself
					op=SET&key=k{id}&value={v}&args=NX                  | SET k7 _ NX              | refused             | refused refused ''         | ''                  | itself  | itself  | itself
					op=SET&key=k{id}&value={v|d}                        | SET k7 _                 | d                   | d                          | ''                  | itself  | itself  | itself
					# a field by its name
					op=HSET&key=k{id}&fields=id,v                       | HSET k7 id 7 [v _]       | refused out ''      | refused out ''             | ''                  | itself  | itself  | itself
					op=HSET&key=k{id}&fields=id,b=-{v}                  | HSET k7 id 7 [b -_]      | refused out -       | refused out -              | ''                  | itself  | itself  | itself
					op=XADD&key=s&fields=id,v                           | XADD s * id 7 [v _]      | refused out ''      | refused out ''             | ''                  | itself  | itself  | itself
					# all fields, and pairs of a spread object
					json: op=HSET&key=k{id}                             | HSET k7 id 7 [v _]       | out                 | refused out ''             | ''                  | itself  | itself  | itself
					tables: op=HSET&key=k{id}                           | HSET k7 id 7 [v _]       | out                 | out out ''                 | ''                  | itself  | itself  | itself
					json: op=XADD&key=s                                 | XADD s * id 7 [v _]      | out                 | refused out ''             | ''                  | itself  | itself  | itself
					json: command=HSET k{id} {*...}                     | HSET k7 id 7 [v _]       | out                 | refused out ''             | ''                  | itself  | itself  | itself
					tables: command=HSET k{id} {*...}                   | HSET k7 id 7 [v _]       | out                 | out out ''                 | ''                  | itself  | itself  | itself
					op=HSET&key=k{id}&fields={o...}                     | HSET k7 a 1 [b _]        | out                 | refused out ''             | ''                  | itself  | itself  | itself
					command=MSET {o...}                                 | MSET a 1 [b _]           | out                 | refused out ''             | ''                  | itself  | itself  | itself
					# an argument or word
					op=RPUSH&key=k{id}&args={v}                         | RPUSH k7 _               | refused             | refused                    | ''                  | itself  | itself  | itself
					op=RPUSH&key=k{id}&args=-{v}                        | RPUSH k7 -_              | refused             | refused                    | ''                  | itself  | itself  | itself
					op=MSET&key={id}&args={v}                           | MSET 7 _                 | refused             | refused                    | ''                  | itself  | itself  | itself
					op=RPUSH&key=k{id}&args={v|d}                       | RPUSH k7 _               | d                   | d                          | ''                  | itself  | itself  | itself
					op=RPUSH&key=k{id}&args={v:json}                    | RPUSH k7 _               | refused             | refused                    | ""                  | itself  | itself  | quoted
					command=RPUSH k{id} {v}                             | RPUSH k7 _               | refused             | refused                    | ''                  | itself  | itself  | itself
					op=SADD&key=k{id}&args={v}                          | SADD k7 _                | refused             | refused                    | ''                  | refused | itself  | refused
					op=SREM&key=k{id}&args={v}                          | SREM k7 _                | refused             | refused                    | ''                  | refused | itself  | refused
					op=HDEL&key=k{id}&args={v}                          | HDEL k7 _                | refused             | refused                    | ''                  | refused | itself  | refused
					op=ZREM&key=k{id}&args={v}                          | ZREM k7 _                | refused             | refused                    | ''                  | refused | itself  | refused
					command=PFADD k{id} {v}                             | PFADD k7 _               | refused             | refused                    | ''                  | refused | itself  | refused
					op=SADD&key=k{id}&args={v:json}                     | SADD k7 _                | refused             | refused                    | ""                  | itself  | itself  | quoted
					op=SADD&key=k{id}&args=-{v}                         | SADD k7 -_               | refused             | refused                    | ''                  | itself  | itself  | itself
					# a spread
					op=RPUSH&key=k{id}&args={id}&args={v...}            | RPUSH k7 7 _             | refused             | refused                    | refused             | parts   | refused | parts
					op=SADD&key=k{id}&args={v...(,)}                    | SADD k7 _                | refused             | refused                    | refused             | parts   | refused | parts
					op=HSET&key=k{id}&args={v...}                       | HSET k7 _                | refused             | refused                    | refused             | refused | parts   | refused
					command=XADD s * {v...}                             | XADD s * _               | refused             | refused                    | refused             | refused | parts   | refused
					op=HSET&key=k{id}&fields=id,{v...}                  | HSET k7 id 7 [_]         | refused out out     | refused out out            | out                 | refused | parts   | refused
					# an element of a spread array
					op=RPUSH&key=k{id}&args={a...}                      | RPUSH k7 1 [_]           | out                 | refused out ''             | ''                  | itself  | itself  | itself
					command=SADD k{id} {a...}                           | SADD k7 1 [_]            | out                 | refused out ''             | ''                  | itself  | itself  | itself
					# in a group
					op=RPUSH&key=k{id}&args={id}&args=[&args={v}&args=] | RPUSH k7 7 [_]           | out                 | out                        | ''                  | itself  | itself  | itself
					command=SADD k{id} {id} [ {v} ]                     | SADD k7 7 [_]            | out                 | out                        | ''                  | refused | itself  | refused
					command=SADD k{id} {id} [ {v...} ]                  | SADD k7 7 [_]            | out                 | out                        | out                 | parts   | refused | parts
					command=[ SET k{id} {v} ]                           | [SET k7 _]               | out                 | out                        | ''                  | itself  | itself  | itself
					command=[ DEL {v} ]                                 | [DEL _]                  | out                 | out                        | refused             | refused | refused | refused
					command=SADD k{id} {id} [ '{{"a":"{v}"}}' ]         | SADD k7 7 [{"a":"_"}]    | out                 | out                        | ''                  | refused | refused | refused
					# JSON text, in quotes and outside of them
					op=SET&key=k{id}&value={{"a":"{v}"}}                | SET k7 {"a":"_"}         | refused             | refused                    | ''                  | refused | refused | refused
					op=HSET&key=k{id}&fields=id,b={{"a":"{v}"}}         | HSET k7 id 7 b {"a":"_"} | refused             | refused                    | ''                  | refused | refused | refused
					op=SET&key=k{id}&value={{"a":{v}}}                  | SET k7 {"a":_}           | refused             | null                       | refused             | itself  | itself  | itself
					op=RPUSH&key=k{id}&args={{"a":{v}}}                 | RPUSH k7 {"a":_}         | refused             | null                       | refused             | itself  | itself  | itself
					op=SET&key=k{id}&value={{"a":{v|0}}}                | SET k7 {"a":_}           | 0                   | 0                          | refused             | itself  | itself  | itself
					op=SET&key=k{id}&value={{"a":{v:json}}}             | SET k7 {"a":_}           | refused             | null                       | ""                  | itself  | itself  | quoted
					op=SET&key={{{v}}}&value=x                          | SET {_} x                | refused             | refused                    | refused             | refused | refused | refused
					# 'ttl', 'expireAt', 'id'
					op=SET&key=k{id}&value=x&ttl={v}                    | SET k7 x [EX _]          | refused out out out | refused out out out        | refused out out out | refused | refused | refused
					op=SET&key=k{id}&value=x&ttl={v|60}                 | SET k7 x [EX _]          | 60                  | 60                         | refused out out out | refused | refused | refused
					op=SET&key=k{id}&value=x&expireAt={v}               | SET k7 x [EXAT _]        | refused out out out | refused out out out        | refused out out out | refused | refused | refused
					op=SET&key=k{id}&value=x&id={v}                     | SET k7 x [#_]            | refused out out out | refused out out out        | refused out out out | refused | refused | itself
					""")
	void eachPlaceDecidesByTheStateOfTheValue(ArgumentsAccessor cells) throws IOException, SQLException {
		String call = cells.getString(0).replaceFirst("^(json|tables): ", "");
		for (Nulls nulls : Nulls.values()) {
			if (!isAllowed(nulls, call)) {
				assertThatThrownBy(() -> settings(call, nulls)).isInstanceOf(InvalidSettingException.class);
				continue;
			}
			for (Format format : Format.values()) {
				boolean isFor = call.equals(cells.getString(0))
						|| (format == Format.NDJSON) == cells.getString(0).startsWith("json");
				for (Given given : Given.values()) {
					String[] outcomes = cells.getString(2 + List.of(Given.values()).indexOf(given)).split(" ", -1);
					String outcome = outcomes[Math.min(outcomes.length - 1, List.of(Nulls.values()).indexOf(nulls))];
					if (isFor && format.has(given, call)) {
						check(call, nulls, format, given, cells.getString(1), outcome);
					}
				}
			}
		}
	}

	private static void check(String call, Nulls nulls, Format format, Given given, String made, String outcome)
			throws IOException, SQLException {
		String place = format + ", nulls=" + nulls + ", " + given + ": " + outcome;
		String json = given.in(nameOf(call));
		if (json == null && format == Format.CSV && call.matches(".*[{,]v\\b.*")) {
			assertThatThrownBy(() -> format.read(settings(call, nulls), "v", null)).as(place)
				.isInstanceOf(MalformedBodyException.class)
				.hasMessageContaining("has no column 'v'");
			return;
		}
		List<Snapshot> records = format.read(settings(call, nulls), nameOf(call), json);
		List<String> expected = expected(made, outcome, given);
		if (outcome.equals("refused")) {
			assertThat(records).as(place).extracting(Snapshot::code).containsExactly("MALFORMED");
			assertThat(records.get(0).message()).as(place).containsPattern("['{]([voab]\\b|ttl|expireAt)");
		}
		else {
			assertThat(records).as(place).allMatch((record) -> record.message() == null);
			assertThat(records.stream().map(ValuesByPlaceTests::words).toList()).as(place)
				.isEqualTo((expected.equals(List.of(""))) ? List.of() : List.of(expected));
		}
	}

	private static List<String> words(Snapshot record) {
		List<String> words = new ArrayList<>(record.words());
		if (record.id() != null) {
			words.add("#" + record.id());
		}
		return words;
	}

	private static List<String> expected(String made, String outcome, Given given) {
		String value = switch (outcome) {
			case "''", "-" -> "";
			case "itself" -> given.text;
			case "parts" -> given.text.replaceAll("[\\[\\]{}\"]", "").replaceAll("[,:]", " ");
			case "quoted" -> "\"" + given.text.replace("\"", "\\\"") + "\"";
			default -> outcome;
		};
		String words = (outcome.equals("DEL")) ? "DEL k7"
				: made.replaceAll("\\[(.*?)]", (outcome.equals("out")) ? "" : "$1").strip();
		return Arrays.asList(words.replace("_", value).split(" ", -1));
	}

	/**
	 * {@code delete} is for SET without a condition; with {@code command}, nulls are
	 * those of spreads.
	 */
	private static boolean isAllowed(Nulls nulls, String call) {
		return switch (nulls) {
			case REFUSE -> true;
			case DELETE -> call.startsWith("op=SET") && !call.contains("NX");
			default -> !call.startsWith("command") || call.contains("...");
		};
	}

	private static JobSettings settings(String call, Nulls nulls) {
		List<String[]> query = Arrays.stream((call + "&nulls=" + nulls.label()).split("&"))
			.map((setting) -> setting.split("=", 2))
			.collect(Collectors.toCollection(ArrayList::new));
		return DEFAULTS.with((name) -> {
			String[] next = query.stream().filter((setting) -> setting[0].equals(name)).findFirst().orElse(null);
			query.remove(next);
			return (next != null) ? next[1] : null;
		}, "/v1/jobs", null, OperationFinder.TABLE);
	}

	private static String nameOf(String call) {
		return (call.contains("{o")) ? "o" : (call.contains("{a.")) ? "a" : "v";
	}

	/** The value of a row. */
	private enum Given {

		ABSENT(null), NULL("null"), EMPTY("\"\""), ARRAY("[1, \"x\"]"), OBJECT("{\"p\": 1}"),

		TEXT("\"[1,\\\"x\\\"]\"");

		private final String json;

		private final String text;

		Given(String json) {
			this.json = json;
			this.text = (json != null) ? json.replace(" ", "").replaceFirst("^\"(.*)\"$", "$1").replace("\\", "")
					: null;
		}

		/** The JSON of a column; {@code null} if the row does not have it. */
		String in(String name) {
			return switch (name) {
				case "a" -> (this.json != null) ? "[1, " + this.json + "]" : "[1]";
				case "o" -> (this.json != null) ? "{\"a\": 1, \"b\": " + this.json + "}" : "{\"a\": 1}";
				default -> this.json;
			};
		}

	}

	/** The format of a row. */
	private enum Format {

		NDJSON, CSV, SQL;

		/**
		 * Cells are no arrays or objects, but may have them; a query without the column
		 * is no row.
		 */
		boolean has(Given given, String call) {
			boolean cell = nameOf(call).equals("v");
			return switch (given) {
				case ARRAY, OBJECT -> this != CSV || !cell;
				case ABSENT -> this != SQL || !cell;
				default -> true;
			};
		}

		/**
		 * Reads a row of an id and a column, which has a text of JSON or is not there.
		 */
		List<Snapshot> read(JobSettings settings, String name, String json) throws IOException, SQLException {
			return switch (this) {
				case NDJSON -> open(RecordFormat.NDJSON, settings,
						(json != null) ? "{\"id\":7,\"" + name + "\":" + json + "}" : "{\"id\":7}");
				case CSV ->
					open(RecordFormat.CSV, settings,
							(json != null) ? "id," + name + "\n7,"
									+ ((json.equals("null")) ? "" : "\"" + text(json).replace("\"", "\"\"") + "\"")
									: "id\n7");
				case SQL -> rows(settings, name, json);
			};
		}

		private static String text(String json) {
			return (json.startsWith("\"")) ? json.substring(1, json.length() - 1).replace("\\", "") : json;
		}

		private static List<Snapshot> open(RecordFormat format, JobSettings settings, String body) throws IOException {
			return Snapshot.readAll(format.open(new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)),
					settings.records().operation(), settings.records().mapping(), Limits.ofBytes(1 << 16)));
		}

		private static List<Snapshot> rows(JobSettings settings, String name, String json) throws SQLException {
			boolean text = json.equals("null") || json.startsWith("\"");
			ResultSetMetaData columns = fake(ResultSetMetaData.class, "getColumnType", Types.INTEGER, Types.VARCHAR,
					"getColumnTypeName", "int4", (text) ? "text" : "jsonb");
			ResultSet row = fake(ResultSet.class, "getBigDecimal", new java.math.BigDecimal(7), null, "getString", "7",
					(json.equals("null")) ? null : text(json));
			SqlRow rows = new SqlRow(columns, List.of("id", name), settings.records().mapping().templates(),
					settings.records().mapping().nulls(), Limits.ofBytes(1 << 16));
			rows.read(row);
			List<Snapshot> records = new ArrayList<>();
			Record record = new Record();
			while (rows.hasNext()) {
				rows.deliver(record);
				records.add(Snapshot.of(record));
			}
			return records;
		}

		/** Answers to two methods of one argument, the number of a column from 1. */
		private static <T> T fake(Class<T> type, Object... answers) {
			return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
					(self, method, arguments) -> {
						int at = Arrays.asList(answers).indexOf(method.getName());
						return answers[at + (int) arguments[0]];
					}));
		}

	}

}
