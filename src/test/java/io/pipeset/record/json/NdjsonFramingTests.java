package io.pipeset.record.json;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.Limits;
import io.pipeset.record.body.PiecesThenSilence;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.format.Snapshot;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

class NdjsonFramingTests {

	private static final String TOO_LONG = "the record has more than 1000000 arguments (pipeset.limits.max-arguments)";

	private static final String BOM = "\u00ef\u00bb\u00bf";

	private static final String TOO_LARGE = "the record is larger than 20 bytes (pipeset.limits.max-record-bytes)";

	@ParameterizedTest
	@ValueSource(strings = { "", "\n", "\r\n\r\n", " \t \n\n  ", BOM, BOM + "\n" })
	void bodyOfBlankLinesHasNoRecords(String body) throws IOException {
		assertThat(Snapshot.ndjson(Snapshot.latin1(body), 20)).isEmpty();
	}

	@Test
	void linesCountFromOneAndRecordsFromZero() {
		assertThat(Snapshot.ndjson("\n[\"DEL\",\"a\"]\r\n \t\r\n\n  [\"DEL\",\"b\"]  \n[\"DEL\",\"c\"]"))
			.extracting(Snapshot::index, Snapshot::line, (snapshot) -> snapshot.arguments().get(0))
			.containsExactly(tuple(0L, 2L, "a"), tuple(1L, 5L, "b"), tuple(2L, 6L, "c"));
	}

	@Test
	void invalidLineDoesNotAffectOtherLines() {
		assertThat(Snapshot.ndjson("[\"DEL\",\"a\"]\n{\"op\":\"DEL\n[\"DEL\",\"b\"] [\n}{\n\"\n[\"DEL\",\"c\"]\n"))
			.extracting(Snapshot::line, Snapshot::code)
			.containsExactly(tuple(1L, null), tuple(2L, "MALFORMED"), tuple(3L, "MALFORMED"), tuple(4L, "MALFORMED"),
					tuple(5L, "MALFORMED"), tuple(6L, null));
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\n  \"op\": \"DEL\",\n  \"key\": \"a\"\n}\n", "{ \r\n\"op\": \"DEL\"\r\n}",
			"{ \"op\": \"DEL\",\n  \"key\": \"a\" }", "\n {\"fields\":\n{}}", "{\"op\":\"HSET\",\"fields\": {\n}}",
			"{\"args\": [\n1]}" })
	void prettyPrintedJsonIsRecognizedByItsFirstError(String body) {
		List<Snapshot> records = Snapshot.ndjson(body);
		assertThat(records.get(0).message())
			.startsWith("this is pretty-printed JSON; send one object a line (jq -c): expected ")
			.contains("found the end (byte ");
		assertThat(records).hasSizeGreaterThan(1);
		assertThat(records.subList(1, records.size())).noneMatch((record) -> record.message().contains("pretty"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "[\"DEL\",\"a\"]\n{\n}", "{\"op\":\"DEL\",\"key\":\"a\"\n",
			"{\"op\":\"DEL\",\"key\":\"a,\n", "{\"op\":\"DEL\"},\n", "[\"DEL\",\n", "\"op\":\n" })
	void otherIncompleteLinesAreNotPrettyPrintedJson(String body) {
		assertThat(Snapshot.ndjson(body)).noneMatch((record) -> String.valueOf(record.message()).contains("pretty"))
			.anyMatch((record) -> record.message() != null);
	}

	@Test
	void truncatedLastLineIsMalformed() {
		assertThat(Snapshot.ndjson("[\"DEL\",\"a\"]\n[\"DEL\",\"b\"")).extracting(Snapshot::code)
			.containsExactly(null, "MALFORMED");
	}

	@Test
	void byteOrderMarkIsSkippedAtTheVeryBeginningOnly() throws IOException {
		String line = BOM + "[\"DEL\",\"a\"]\n";
		assertThat(Snapshot.ndjson(Snapshot.latin1(line + line), 100)).extracting(Snapshot::code)
			.containsExactly(null, "MALFORMED");
		assertThat(Snapshot.ndjson(Snapshot.latin1(BOM.substring(0, 2)), 100)).hasSize(1);
		assertThat(Snapshot.ndjson(Snapshot.latin1(BOM.charAt(0) + "\n[\"DEL\",\"a\"]"), 100)).hasSize(2);
	}

	@Test
	void lineOfExactlyTheLimitIsRead() throws IOException {
		String exact = "[\"DEL\",\"0123456789\"]";
		String line = "[\"DEL\",\"0123456789a\"]";
		assertThat(exact).hasSize(20);
		assertThat(Snapshot.ndjson(Snapshot.latin1(exact + "\n" + line + "\n" + exact + "\r\n" + line + "\r\n" + exact),
				20))
			.extracting(Snapshot::code)
			.containsExactly(null, "TOO_LARGE", null, "TOO_LARGE", null);
		assertThat(Snapshot.ndjson(Snapshot.latin1(exact + "\r"), 20)).extracting(Snapshot::code)
			.containsExactly((String) null);
		assertThat(Snapshot.ndjson(Snapshot.latin1(line), 20)).extracting(Snapshot::code).containsExactly("TOO_LARGE");
	}

	@Test
	void oversizedLineIsOneRecordAndTheNextGoesOn() throws IOException {
		String giant = "[\"DEL\",\"" + "x".repeat(1_000_000) + "\"]";
		List<Snapshot> snapshots = Snapshot
			.ndjson(Snapshot.latin1("[\"DEL\",\"a\"]\n" + giant + "\n[\"DEL\",\"b\"]\n" + giant), 20);
		assertThat(snapshots).extracting(Snapshot::line, Snapshot::code, Snapshot::message)
			.containsExactly(tuple(1L, null, null), tuple(2L, "TOO_LARGE", TOO_LARGE), tuple(3L, null, null),
					tuple(4L, "TOO_LARGE", TOO_LARGE));
	}

	@Test
	void recordOfTooManyArgumentsIsTooLarge() throws IOException {
		String args = "1" + ",1".repeat(RecordLimit.DEFAULT_ARGUMENTS);
		StringBuilder fields = new StringBuilder("\"f\":1");
		for (int i = 0; i < RecordLimit.DEFAULT_ARGUMENTS / 2; i++) {
			fields.append(",\"").append(i).append("\":1");
		}
		assertThat(Snapshot.ndjson(
				Snapshot.latin1("[\"DEL\"," + args + "]\n{\"op\":\"DEL\",\"key\":\"k\",\"args\":[" + args
						+ "]}\n{\"op\":\"HSET\",\"key\":\"k\",\"fields\":{" + fields + "}}\n[\"DEL\",\"k\"]"),
				16 << 20))
			.extracting(Snapshot::code, Snapshot::message)
			.containsExactly(tuple("TOO_LARGE", TOO_LONG), tuple("TOO_LARGE", TOO_LONG), tuple("TOO_LARGE", TOO_LONG),
					tuple(null, null));
	}

	@Test
	void blankLineIsNeverTooLarge() throws IOException {
		assertThat(Snapshot
			.ndjson(Snapshot.latin1(" ".repeat(200_000) + "\n" + " ".repeat(200_000) + "[\"DEL\",\"a\"]"), 20))
			.extracting(Snapshot::line, Snapshot::code)
			.containsExactly(tuple(2L, null));
	}

	@Test
	void recordLargerThanTheUsualBufferIsRead() {
		String value = "x".repeat(300_000);
		List<Snapshot> snapshots = Snapshot
			.ndjson("[\"SET\",\"a\",\"" + value + "\"]\n[\"DEL\",\"b\"]\n[\"SET\",\"c\",\"" + value + "\"]");
		assertThat(snapshots).extracting(Snapshot::code).containsOnlyNulls().hasSize(3);
		assertThat(snapshots.get(2).arguments()).containsExactly("c", value);
	}

	@Test
	void recordsInTheBufferNeedNoFurtherRead() throws IOException {
		InputStream body = new PiecesThenSilence("[\"DEL\",\"a\"]\n[\"DEL\",\"b\"]\n[\"DEL\"");
		RecordReader reader = RecordFormat.NDJSON.open(body, null, Limits.ofBytes(100));
		Record record = new Record();
		assertThat(reader.read(record)).isTrue();
		assertThat(reader.read(record)).isTrue();
		assertThat(record.text(0)).isEqualTo("b");
		assertThatThrownBy(() -> reader.read(record)).isInstanceOf(IOException.class).hasMessage("silence");
	}

	@Test
	void oversizedRecordDoesNotWaitForItsEnd() throws IOException {
		RecordReader reader = RecordFormat.NDJSON.open(new PiecesThenSilence("[\"DEL\",\"" + "a".repeat(20)), null,
				Limits.ofBytes(20));
		Record record = new Record();
		assertThat(reader.read(record)).isTrue();
		assertThat(Snapshot.of(record).code()).isEqualTo(Rejection.TOO_LARGE);
		assertThatThrownBy(() -> reader.read(record)).hasMessage("silence");
	}

	@Test
	void endLeavesTheRecordUntouched() throws IOException {
		RecordReader reader = RecordFormat.NDJSON.open(
				new ByteArrayInputStream("[\"DEL\",\"a\"]\n".getBytes(StandardCharsets.UTF_8)), null,
				Limits.ofBytes(100));
		Record record = new Record();
		reader.read(record);
		Snapshot last = Snapshot.of(record);
		assertThat(reader.read(record)).isFalse();
		assertThat(reader.read(record)).isFalse();
		assertThat(Snapshot.of(record)).isEqualTo(last);
	}

}
