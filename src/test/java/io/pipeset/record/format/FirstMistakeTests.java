package io.pipeset.record.format;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.Limits;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.SplitBody;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * If a body does not have the format of its media type, the error says what to change.
 */
class FirstMistakeTests {

	private static final String BOM = "\u00ef\u00bb\u00bf";

	private static final String NDJSON_TYPE = "-H 'Content-Type: application/x-ndjson'";

	private static final String JSON_TYPE = "-H 'Content-Type: application/json'";

	static List<String> mediaTypes() {
		return Stream.of(RecordFormat.values()).map(RecordFormat::mediaType).toList();
	}

	@Test
	void linesOfCommandsAreNotAJsonArray() throws IOException {
		String line = "[\"DEL\",\"a\"]\n";
		MalformedBodyException exception = lost("application/json", line + line);
		assertThat(exception).hasMessageStartingWith("expected nothing after the array of records, found '['")
			.hasMessageContaining(NDJSON_TYPE);
		assertThat(exception.byteOffset()).isEqualTo(line.length());
		assertThat(Snapshot.json(line)).allSatisfy((record) -> assertThat(record.message())
			.startsWith("a record is an object or an array, not the string '")
			.contains("[[\"SET\",\"key\",\"value\"]]"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "[\n  {\"op\":\"DEL\",\"key\":\"a\"},\n  {\"op\":\"DEL\",\"key\":\"b\"}\n]\n",
			"[{\"op\":\"DEL\",\"key\":\"a\"}]", "[\r\n[\"DEL\",\"a\"]\r\n]", " \n[ [\"DEL\",\"a\"]]", BOM + "[\t{}]",
			"[[]]", "[{", "[\n" })
	void jsonArrayIsNotReadLineByLine(String body) {
		for (int piece = 1; piece <= body.length(); piece++) {
			RecordReader reader = RecordFormat.NDJSON.open(new SplitBody(latin1(body), piece, piece), null,
					Limits.ofBytes(100));
			Record record = new Record();
			MalformedBodyException exception = catchThrowableOfType(MalformedBodyException.class,
					() -> reader.read(record));
			assertThat(exception).hasMessageContaining(JSON_TYPE);
			assertThat(exception.byteOffset()).isEqualTo(body.indexOf('['));
			assertThat(record.index()).isNegative();
			assertThatThrownBy(() -> reader.read(record)).isSameAs(exception);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "[\"DEL\",\"a\"]\n", "[ \"DEL\",\"a\"]", "[]", "[", "[ ", "[1]", "{}\n[{}]\n[\n" })
	void aLineThatMayBeARecordIsReadAsOne(String body) throws IOException {
		assertThat(Snapshot.ndjson(Snapshot.latin1(body), 100)).hasSameSizeAs(body.strip().split("\n"));
	}

	@Test
	void theTextAfterABracketIsReadOnlyUpToALimit() throws IOException {
		assertThat(Snapshot.ndjson(Snapshot.latin1("[" + " ".repeat(300_000) + "{}]\n[\"DEL\",\"a\"]"), 20))
			.extracting(Snapshot::code)
			.containsExactly(Rejection.TOO_LARGE, null);
	}

	@Test
	void missingLineBreaksAreReported() {
		assertThat(Snapshot.line("{\"op\":\"DEL\",\"key\":\"a\"}{\"op\":\"DEL\",\"key\":\"b\"}").message())
			.startsWith("expected nothing more after the record, found '{'")
			.contains("--data-binary");
		assertThat(Snapshot.line("[\"DEL\",\"a\"][\"DEL\",\"b\"]").message()).contains("--data-binary");
		assertThat(Snapshot.line("[\"DEL\",\"a\"]x").message()).doesNotContain("--data-binary");
		assertThat(lost("application/x-redis-resp", "*2$3DEL$1a")).hasMessageStartingWith("expected \\r\\n, found '$'")
			.hasMessageContaining("--data-binary");
		assertThat(lost("text/csv", "key,valuea,1b,2")).hasMessageContaining("not 'valuea'")
			.hasMessageContaining("--data-binary");
		assertThat(lost("text/csv", "key,valuea\n1,2\n")).hasMessageContaining("not 'valuea'")
			.hasMessageNotContaining("--data-binary");
	}

	@ParameterizedTest
	@MethodSource("mediaTypes")
	void filesWithoutRecordsAreRecognized(String mediaType) {
		String commands = "SET a 1\nSET b 2\n";
		assertUnsupportedFile(mediaType, latin1("REDIS0011\u00fa\tredis-ver\u00057.2.4"), "RDB", "REDIS0011",
				"BGREWRITEAOF");
		assertUnsupportedFile(mediaType, latin1("VALKEY080\u00fa\nvalkey-ver"), "RDB", "VALKEY080", "BGREWRITEAOF");
		assertUnsupportedFile(mediaType, ("\ufeff" + commands).getBytes(StandardCharsets.UTF_16LE), "UTF-16", "UTF-8");
		assertUnsupportedFile(mediaType, ("\ufeff" + commands).getBytes(StandardCharsets.UTF_16BE), "UTF-16", "UTF-8");
		assertUnsupportedFile(mediaType, ("\ufeff" + commands).getBytes(Charset.forName("UTF-32LE")), "UTF-32",
				"UTF-8");
		assertUnsupportedFile(mediaType, ("\ufeff" + commands).getBytes(Charset.forName("UTF-32BE")), "UTF-32",
				"UTF-8");
		assertUnsupportedFile(mediaType, commands.getBytes(StandardCharsets.UTF_16LE), "UTF-16", "UTF-8");
		assertUnsupportedFile(mediaType, commands.getBytes(StandardCharsets.UTF_16BE), "UTF-16", "UTF-8");
		assertUnsupportedFile(mediaType, commands.getBytes(Charset.forName("UTF-32LE")), "UTF-32", "UTF-8");
		assertUnsupportedFile(mediaType, commands.getBytes(Charset.forName("UTF-32BE")), "UTF-32", "UTF-8");
	}

	private static void assertUnsupportedFile(String mediaType, byte[] body, String... words) {
		for (int piece : new int[] { 1, 2, 3, 5, 1000 }) {
			RecordReader reader = format(mediaType).open(new SplitBody(body.clone(), piece, piece), Operation.SET,
					Limits.ofBytes(100));
			for (int i = 0; i < 2; i++) {
				MalformedBodyException exception = catchThrowableOfType(MalformedBodyException.class,
						() -> reader.read(new Record()));
				assertThat(exception).hasMessageContainingAll(words);
				assertThat(exception.byteOffset()).isZero();
			}
		}
	}

	@Test
	void aWordThatBeginsLikeAnRdbFileIsNotOne() throws IOException {
		assertThat(one("text/plain", "REDIS0011 a\n").code()).isEqualTo(Rejection.UNKNOWN_OPERATION);
		assertThat(one("text/plain", "SET a 1\n").code()).isNull();
	}

	@ParameterizedTest
	@MethodSource("mediaTypes")
	void compressionIsRecognized(String mediaType) {
		assertCompressed(mediaType, "\u001f\u008b\b\0\0\0\0\0\0\u00ff\n[\"SET\",\"k\"]", "gzip");
		assertCompressed(mediaType, "(\u00b5/\u00fd\4X\n[\"SET\",\"k\"]", "zstd");
	}

	private static void assertCompressed(String mediaType, String body, String encoding) {
		for (int piece = 1; piece < 5; piece++) {
			RecordReader reader = format(mediaType).open(new SplitBody(latin1(body), piece, piece), Operation.SET,
					Limits.ofBytes(100));
			MalformedBodyException exception = catchThrowableOfType(MalformedBodyException.class,
					() -> reader.read(new Record()));
			assertThat(exception).hasMessageContaining("-H 'Content-Encoding: " + encoding + "'");
			assertThat(exception.byteOffset()).isZero();
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', nullValues = "-",
			textBlock = """
					key;value         | SET  | the header has no column 'key'; found: key;value; columns are separated by commas, not by semicolons, unless delimiter=; says so
					"key";"value"     | SET  | the header row is not CSV: expected ',' or the end of the row after a quoted cell, found ';' (byte 5 of the record)
					Key;Value         | -    | the header has no column 'key'; found: Key;Value; columns are separated by commas, not by semicolons, unless delimiter=; says so
					key\tname         | HSET | the header has no column 'key'; found: key\tname; columns are separated by commas, not by tabs, unless delimiter=tab says so
					Key,Value         | SET  | the header has no column 'key'; found: Key, Value; columns are named in lower case: 'key'
					KEY,name          | HSET | the header has no column 'key'; found: KEY, name; columns are named in lower case: 'key'
					key,Value         | SET  | SET takes the columns 'key', 'value' and 'ttl' or 'expireAt', not 'Value'; columns are named in lower case: 'value'
					key,value,TTL     | SET  | SET takes the columns 'key', 'value' and 'ttl' or 'expireAt', not 'TTL'; columns are named in lower case: 'ttl'
					key,Arg1          | DEL  | DEL takes the columns 'key', 'arg1', 'arg2'…, not 'Arg1'; columns are named in lower case: 'arg1'
					Op,key            | -    | the header has no column 'op', and the request names no operation by '?op='; found: Op, key; columns are named in lower case: 'op'
					key, value        | SET  | SET takes the columns 'key', 'value' and 'ttl' or 'expireAt', not ' value'; spaces are part of a column's name: 'value'
					name,age          | HSET | the header has no column 'key'; found: name, age
					Name,age          | HSET | the header has no column 'key'; found: Name, age
					key,value,Name    | SET  | SET takes the columns 'key', 'value' and 'ttl' or 'expireAt', not 'Name'
					""")
	void headerMessagesSuggestTheProbableColumn(String header, @Nullable Operation operation, String message) {
		RecordReader reader = RecordFormat.CSV.open(Snapshot.latin1(header + "\nk\n"), operation, Limits.ofBytes(1000));
		assertThatThrownBy(() -> reader.read(new Record())).isInstanceOf(MalformedBodyException.class)
			.hasMessage(message);
	}

	@ParameterizedTest
	@CsvSource({ "MULTI, atomic=batch", "multi, atomic=batch", "EXEC, atomic=batch", "DISCARD, atomic=batch",
			"SELECT, spring.data.redis.database", "FLUSHALL, maxErrors=0", "AUTH, spring.data.redis.password",
			"EVAL, POST /v1/scripts" })
	void messagesAboutUnneededOperationsSaySo(String name, String remedy) throws IOException {
		String start = "operation '" + name + "' is not supported: ";
		for (Snapshot record : List.of(one("text/csv", "op,key\n" + name + ",3\n"),
				one("application/x-ndjson", "[\"" + name + "\",3]"),
				one("application/x-ndjson", "{\"op\":\"" + name + "\"}"),
				one("application/json", "[{\"op\":\"" + name + "\"}]"))) {
			assertThat(record.code()).isEqualTo(Rejection.UNKNOWN_OPERATION);
			assertThat(record.message()).startsWith(start).contains(remedy);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "index", "line", "status", "reply" })
	void anItemOfAReportIsNotARecord(String member) {
		Snapshot record = Snapshot
			.line("{\"" + member + "\":17,\"op\":\"RPOP\",\"key\":\"k\",\"error\":{\"code\":\"WRONGTYPE\"}}");
		assertThat(record.code()).isEqualTo(Rejection.MALFORMED);
		assertThat(record.message()).startsWith("record member '" + member + "' is not known; allowed are ")
			.contains("an item of a report")
			.contains("post the record");
	}

	@ParameterizedTest
	@ValueSource(strings = { "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonl",
			"application/jsonlines", "application/x-jsonlines", "Application/NDJSON" })
	void ndjsonGoesByManyNames(String mediaType) {
		assertThat(format(mediaType)).isEqualTo(RecordFormat.NDJSON);
	}

	private static Snapshot one(String mediaType, String body) throws IOException {
		List<Snapshot> records = Snapshot
			.readAll(format(mediaType).open(Snapshot.latin1(body), null, Limits.ofBytes(1000)));
		assertThat(records).hasSize(1);
		return records.get(0);
	}

	private static MalformedBodyException lost(String mediaType, String body) {
		RecordReader reader = format(mediaType).open(Snapshot.latin1(body), Operation.SET, Limits.ofBytes(1000));
		Record record = new Record();
		MalformedBodyException exception = catchThrowableOfType(MalformedBodyException.class, () -> {
			while (reader.read(record)) {
				assertThat(record.index()).isLessThan(10);
			}
		});
		assertThat(exception).isNotNull();
		return exception;
	}

	private static RecordFormat format(String mediaType) {
		return Objects.requireNonNull(RecordFormat.of(mediaType), mediaType);
	}

	private static byte[] latin1(String bytes) {
		return bytes.getBytes(StandardCharsets.ISO_8859_1);
	}

}
