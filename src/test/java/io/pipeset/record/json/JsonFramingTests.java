package io.pipeset.record.json;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.Limits;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.PiecesThenSilence;
import io.pipeset.record.body.SplitBody;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.format.Snapshot;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

class JsonFramingTests {

	private static final String BOM = "\u00ef\u00bb\u00bf";

	@ParameterizedTest
	@ValueSource(strings = { "[]", " \r\n[\t] \n", BOM + "[ ]" })
	void emptyArrayHasNoRecords(String body) throws IOException {
		assertThat(Snapshot.json(Snapshot.latin1(body), 100)).isEmpty();
	}

	@Test
	void elementsAreRecordsWithoutLines() throws IOException {
		assertThat(
				Snapshot.json("\n[ [\"DEL\",\"a\"]\n,{\"op\":\n\"DEL\",\"key\":\"b\"} ,[\"DEL\",\"c]}\\\"\\\\\"]]\n "))
			.extracting(Snapshot::index, Snapshot::line, (snapshot) -> snapshot.arguments().get(0), Snapshot::code)
			.containsExactly(tuple(0L, 0L, "a", null), tuple(1L, 0L, "b", null), tuple(2L, 0L, "c]}\"\\", null));
	}

	@ParameterizedTest
	@ValueSource(strings = { "1", "\"x,]\\\"\"", "null", "true", "-1.5e3", "{}", "[]", "[null]", "{\"op\":\"DEL\"}",
			"{\"op\":\"SET\",\"key\":\"k\",\"value\":null}", "[\"DEL\",\"\\ud800\"]" })
	void invalidRecordDoesNotAffectOtherElements(String element) throws IOException {
		assertThat(Snapshot.json("[[\"DEL\",\"a\"], " + element + " ,[\"DEL\",\"b\"]]")).extracting(Snapshot::code)
			.containsExactly(null, Rejection.MALFORMED, null);
		assertThat(Snapshot.json("[" + element + "]")).extracting(Snapshot::code).containsExactly(Rejection.MALFORMED);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					~~                          | 0  | 0 | the body is empty: expected an array of records
					~  ~                        | 2  | 0 | the body is empty: expected an array of records
					{"op":"DEL","key":"k"} ,    | 23 | 1 | expected another record or the end, found ',': records with commas between them stand in an array
					{"op":"DEL","key":"k"}]     | 22 | 1 | expected another record or the end, found ']'
					{"op":"DEL","key":"k"}{     | 23 | 1 | the body ends inside a record
					{"op":"DEL,"key":"k"}{}     | 12 | 0 | expected ',' or '}', found 'k'
					[["DEL","k"]] x             | 14 | 1 | expected nothing after the array of records, found 'x'
					[["DEL","k"]]]              | 13 | 1 | expected nothing after the array of records, found ']'
					[                           | 1  | 0 | the body ends inside the array of records: expected a record
					[["DEL","k"]                | 12 | 1 | the body ends inside the array of records: expected ',' or ']'
					[["DEL","k"],               | 13 | 1 | the body ends inside the array of records: expected a record
					[["DEL","k"],]              | 13 | 1 | expected a value, found ']'
					[,                          | 1  | 0 | expected a value, found ','
					[["DEL","k"],,["DEL","k"]]  | 13 | 1 | expected a value, found ','
					[["DEL","k"] ["DEL","k"]]   | 13 | 1 | expected ',' or ']' after a record, found '['
					[["DEL","k"}                | 11 | 0 | expected ',' or ']', found '}'
					[["DEL","k"],["DEL","k"     | 23 | 1 | the body ends inside a record
					[["DEL","k"],["DEL","k      | 22 | 1 | the body ends inside a record
					[1                          | 2  | 0 | the body ends inside a record
					[{"op":"DEL,"key":"k"},[]]  | 13 | 0 | expected ',' or '}', found 'k'
					[{"op":"DEL,"key":"k}]      | 13 | 0 | expected ',' or '}', found 'k'
					[{"op" "DEL"}]              | 7  | 0 | expected ':' after a member's name, found '"'
					[tru]                       | 4  | 0 | expected 'true', found the end
					[01]                        | 2  | 0 | expected nothing more after the record, found '1'
					}                           | 0  | 0 | expected '[' and an array of records, or '{' and a record, found '}'
					[}                          | 1  | 0 | expected a value, found '}'
					[["DEL","\\q"]]             | 10 | 0 | expected one of
					""")
	void lostFramingEndsTheBodyWithAnOffset(String body, long offset, int recordsBefore, String message) {
		String text = (body != null) ? body : "";
		RecordReader reader = RecordFormat.JSON.open(Snapshot.latin1(text), null, Limits.ofBytes(100));
		Record record = new Record();
		MalformedBodyException exception = catchThrowableOfType(MalformedBodyException.class, () -> {
			while (reader.read(record)) {
				assertThat(record.index()).isLessThan(10);
			}
		});
		assertThat(exception).isNotNull().hasMessageStartingWith(message);
		assertThat(exception.byteOffset()).isEqualTo(offset);
		assertThat(record.index() + 1).isEqualTo(recordsBefore);
		assertThatThrownBy(() -> reader.read(record)).isSameAs(exception);
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"op\":\"DEL\",\"key\":\"a\"}\n{\"op\":\"DEL\",\"key\":\"b\"}\n",
			"{\"op\":\"DEL\",\"key\":\"a\"}{\"op\":\"DEL\",\"key\":\"b\"}",
			BOM + " {\n  \"op\" : \"DEL\",\n  \"key\" : \"a\"\n}\r\n\r\n{\n\t\"op\":\"DEL\",\n\t\"key\":\"b\"\n}\n",
			"{\"op\":\"DEL\",\"key\":\"a\"} [\"DEL\",\n\"b\"]" })
	void objectsOneAfterAnotherAreRecordsToo(String body) throws IOException {
		for (int piece = 1; piece <= body.length(); piece++) {
			assertThat(Snapshot
				.readAll(RecordFormat.JSON.open(new SplitBody(body.getBytes(StandardCharsets.ISO_8859_1), piece, piece),
						null, Limits.ofBytes(100))))
				.extracting((record) -> record.arguments().get(0))
				.containsExactly("a", "b");
		}
	}

	@Test
	void invalidObjectDoesNotAffectOtherObjects() throws IOException {
		String giant = "{\"op\":\"DEL\",\"key\":\"" + "x".repeat(100_000) + "\"}";
		assertThat(Snapshot.json(Snapshot.latin1(
				"{\"op\":\"DEL\",\"key\":\"a\"}{\"op\":\"DEL\"}\n" + giant + "\n{\"op\":\"DEL\",\"key\":\"b\"}"), 30))
			.extracting(Snapshot::code)
			.containsExactly(null, "MALFORMED", "TOO_LARGE", null);
		assertThat(Snapshot.json("{\"op\":\"DEL\",\"key\":\"a\"}")).hasSize(1);
	}

	@Test
	void offsetCountsInTheWholeBody() {
		String body = BOM + "[" + "[\"DEL\",\"k\"],\n".repeat(100_000) + "?";
		assertThatThrownBy(() -> Snapshot.json(Snapshot.latin1(body), 100)).isInstanceOfSatisfying(
				MalformedBodyException.class,
				(exception) -> assertThat(exception.byteOffset()).isEqualTo(body.length() - 1));
	}

	@Test
	void oversizedElementIsOneRecordAndTheNextGoesOn() throws IOException {
		String giant = "{\"op\":\"DEL\",\"key\":\"\\\"]}" + "x\\\\".repeat(500_000) + "\"}";
		List<Snapshot> snapshots = Snapshot
			.json(Snapshot.latin1("[[\"DEL\",\"a\"]," + giant + ",[\"DEL\",\"b\"]," + giant + "]"), 20);
		assertThat(snapshots).extracting(Snapshot::code).containsExactly(null, "TOO_LARGE", null, "TOO_LARGE");
		assertThat(snapshots.get(1).message())
			.isEqualTo("the record is larger than 20 bytes (pipeset.limits.max-record-bytes)");
	}

	@Test
	void elementOfExactlyTheLimitIsRead() throws IOException {
		assertThat(Snapshot.json(Snapshot.latin1("[ [\"DEL\",\"0123456789\"] , [\"DEL\",\"0123456789a\"] ]"), 20))
			.extracting(Snapshot::code)
			.containsExactly(null, "TOO_LARGE");
	}

	@Test
	void oversizedElementThatNeverEndsLosesTheFraming() {
		String body = "[[\"DEL\",\"" + "x".repeat(1_000_000);
		assertThatThrownBy(() -> Snapshot.json(Snapshot.latin1(body), 20)).isInstanceOfSatisfying(
				MalformedBodyException.class,
				(exception) -> assertThat(exception.byteOffset()).isEqualTo(body.length()));
	}

	@Test
	void recordsInTheBufferNeedNoFurtherRead() throws IOException {
		RecordReader reader = RecordFormat.JSON.open(new PiecesThenSilence("[[\"DEL\",\"a\"],[\"DEL\",\"b\"]"), null,
				Limits.ofBytes(100));
		Record record = new Record();
		assertThat(reader.read(record)).isTrue();
		assertThat(reader.read(record)).isTrue();
		assertThat(record.text(0)).isEqualTo("b");
		assertThatThrownBy(() -> reader.read(record)).isInstanceOf(IOException.class).hasMessage("silence");
	}

	@Test
	void endLeavesTheRecordUntouched() throws IOException {
		RecordReader reader = RecordFormat.JSON.open(Snapshot.latin1("[[\"DEL\",\"a\"]]"), null, Limits.ofBytes(100));
		Record record = new Record();
		reader.read(record);
		Snapshot last = Snapshot.of(record);
		assertThat(reader.read(record)).isFalse();
		assertThat(reader.read(record)).isFalse();
		assertThat(Snapshot.of(record)).isEqualTo(last);
	}

}
