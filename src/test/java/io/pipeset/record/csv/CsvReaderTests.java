package io.pipeset.record.csv;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.RecordReader;
import io.pipeset.record.body.Limits;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.PiecesThenSilence;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.body.SplitBody;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.format.Snapshot;
import io.pipeset.record.memory.CountedReservation;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

class CsvReaderTests {

	private static final String BOM = "\u00ef\u00bb\u00bf";

	@Test
	void columnsOfSetAreKeyValueAndTtlInAnyOrder() throws IOException {
		assertThat(words(Operation.SET, "key,value\nk,v\n")).containsExactly(List.of("SET", "k", "v"));
		assertThat(words(Operation.SET, "ttl,key,value\n60,a,1\n,b,2\n"))
			.containsExactly(List.of("SET", "a", "1", "EX", "60"), List.of("SET", "b", "2"));
		assertThat(words(Operation.SET, "key,arg1,arg2\na,1,NX\nb,2\n")).containsExactly(List.of("SET", "a", "1", "NX"),
				List.of("SET", "b", "2"));
	}

	@Test
	void everyOtherColumnOfHsetIsAField() throws IOException {
		assertThat(words(Operation.HSET, "name,key,age,\"a,\"\"b\"\"\"\nAda,u:1,36,x\nGrace,u:2,,\n\"\",u:3,,\n"))
			.containsExactly(List.of("HSET", "u:1", "name", "Ada", "age", "36", "a,\"b\"", "x"),
					List.of("HSET", "u:2", "name", "Grace"), List.of("HSET", "u:3", "name", ""));
		assertThat(words(Operation.HSET, "key,value,ttl,arg1\nh,1,2,3\n"))
			.containsExactly(List.of("HSET", "h", "value", "1", "ttl", "2", "arg1", "3"));
		assertThatThrownBy(() -> words(Operation.HSET, "key,arg1,arg2\nh,f,v\n"))
			.isInstanceOf(MalformedBodyException.class)
			.hasMessageContaining("command=HSET {key} {arg1} {arg2}");
	}

	/** The names of fields need memory until the last row, so it is reserved. */
	@Test
	void theHeaderAndTheNamesOfFieldsAreCounted() throws IOException {
		AtomicLong held = new AtomicLong();
		String name = "a".repeat(30_000);
		RecordReader reader = RecordFormat.CSV.open(Snapshot.latin1("key," + name + "\nk,1\n"), Operation.HSET,
				new RecordLimit(Snapshot.MAX_RECORD_BYTES, RecordLimit.DEFAULT_ARGUMENTS,
						new CountedReservation(held, false)));
		reader.read(new Record(new RecordDefaults(null, null, null, 0, Encoding.UTF8), MemoryReservation.UNLIMITED));
		assertThat(held.get()).isBetween(60_000L, 61_000L);
		reader = RecordFormat.CSV.open(Snapshot.latin1("key,value\nk,1\n"), Operation.SET, new RecordLimit(
				Snapshot.MAX_RECORD_BYTES, RecordLimit.DEFAULT_ARGUMENTS, new CountedReservation(held, false)));
		held.set(0);
		reader.read(new Record(new RecordDefaults(null, null, null, 0, Encoding.UTF8), MemoryReservation.UNLIMITED));
		assertThat(held.get()).isEqualTo("key,value".length());
	}

	@Test
	void rowsOfOtherOperationsHaveArguments() throws IOException {
		assertThat(words(Operation.LPUSH, "key,arg1,arg2\nq,a,b\nq,c,\nq,d\n"))
			.containsExactly(List.of("LPUSH", "q", "a", "b"), List.of("LPUSH", "q", "c"), List.of("LPUSH", "q", "d"));
		assertThat(words(Operation.DEL, "key\na\n\" \"\n\"\"\n")).containsExactly(List.of("DEL", "a"),
				List.of("DEL", " "), List.of("DEL", ""));
		assertThat(words(Operation.LPUSH, "arg2,key,arg1\nb,q,a\n")).containsExactly(List.of("LPUSH", "q", "a", "b"));
	}

	@Test
	void rowsMayNameTheirOperation() throws IOException {
		String csv = "op,key,arg1,arg2\nSET,a,1\nhset,h,f,v\nRPOP,q,,\nDEL,a,b,c\n";
		for (Operation operation : new Operation[] { null, Operation.SET, Operation.HSET }) {
			assertThat(words(operation, csv)).containsExactly(List.of("SET", "a", "1"), List.of("HSET", "h", "f", "v"),
					List.of("RPOP", "q"), List.of("DEL", "a", "b", "c"));
		}
		assertThat(words(Operation.DEL, "key,op\na,\nb,RPOP\n")).containsExactly(List.of("DEL", "a"),
				List.of("RPOP", "b"));
	}

	@Test
	void emptyCellIsAbsentAndTwoQuotesAreTheEmptyString() throws IOException {
		assertThat(words(Operation.SET, "key,value\n\"\",\"\"\n")).containsExactly(List.of("SET", "", ""));
		assertThat(read(Operation.SET, "key,value\na,\n,1\n")).extracting(Snapshot::code, Snapshot::message)
			.containsExactly(tuple("MALFORMED", "column 'value' is empty; write \"\" for the empty string"),
					tuple("MALFORMED", "column 'key' is empty; write \"\" for the empty string"));
	}

	@Test
	void cellsInQuotesHoldAnything() throws IOException {
		assertThat(words(Operation.SET,
				BOM + "\"key\",value\r\n\"a,b\r\nc\",\" \"\"q\"\" \"\r\nd, e \r\n\"\"\"\",\"\n\"\n"
						+ "z,\u0000\u0001\t"))
			.containsExactly(List.of("SET", "a,b\r\nc", " \"q\" "), List.of("SET", "d", " e "),
					List.of("SET", "\"", "\n"), List.of("SET", "z", "\u0000\u0001\t"));
	}

	@Test
	void linesCountFromTheHeaderAndRecordsFromZero() throws IOException {
		assertThat(read(Operation.SET, "\n\r\nkey,value\n\na,\"1\n\n2\"\r\n\r\nb,1\n,\nc,2"))
			.extracting(Snapshot::index, Snapshot::line, (snapshot) -> snapshot.code())
			.containsExactly(tuple(0L, 5L, null), tuple(1L, 9L, null), tuple(2L, 10L, "MALFORMED"),
					tuple(3L, 11L, null));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					a                | the header has 3 columns, and the row 1 cell
					a,1              | the header has 3 columns, and the row 2 cells
					a,1,2,3          | the header has 3 columns, and the row 4 cells
					a,,60            | column 'value' is empty; write "" for the empty string
					,1,60            | column 'key' is empty; write "" for the empty string
					a,1,0            | column 'ttl' takes a whole number of seconds from 1 to 999999999, or a duration of whole seconds such as 90s, 1h, 7d or PT1H (for a timestamp, use expireAt), not '0'
					a,1,1000000000 | column 'ttl' takes a whole number of seconds from 1 to 999999999, or a duration of whole seconds such as 90s, 1h, 7d or PT1H (for a timestamp, use expireAt), not '1000000000'
					a,1,""           | column 'ttl' takes
					a,"1"2,3         | expected ',' or the end of the row after a quoted cell, found '2' (byte 5 of the record)
					a,"1" ,3         | expected ',' or the end of the row after a quoted cell, found byte 0x20 (byte 5 of the record)
					a,1"2",3         | a cell with a quote stands in quotes, in which "" is a quote (byte 3 of the record)
					a,\u0080,3       | a cell is not UTF-8: found byte 0x80 (byte 2 of the record)
					a,"\u00c0\u0080",3 | a cell is not UTF-8: found byte 0xC0 (byte 3 of the record)
					a,1,\u00ed\u00a0\u0080 | a cell is not UTF-8: found byte 0xED (byte 4 of the record)
					""")
	void invalidRowDoesNotAffectOtherRows(String row, String message) throws IOException {
		List<Snapshot> snapshots = read(Operation.SET, "key,value,ttl\nx,1,\n" + row + "\ny,2,\n");
		assertThat(snapshots).extracting(Snapshot::code).containsExactly(null, "MALFORMED", null);
		assertThat(snapshots.get(1).message()).startsWith(message);
		assertThat(snapshots.get(1).operation()).isEqualTo("SET");
		assertThat(snapshots.get(2).words()).containsExactly("SET", "y", "2");
	}

	/** Otherwise the text of the cell would become a record of its own. */
	@ParameterizedTest
	@ValueSource(strings = { "a,\"He said \\\"hi\nk2,evil\nbye\\\"\"\nc,3\n", "a,\"x\"\"\\\" \nc,3\n" })
	void quoteEscapedByABackslashEndsTheBody(String rows) throws IOException {
		RecordReader reader = RecordFormat.CSV.open(Snapshot.latin1("key,value\nx,1\n" + rows), Operation.SET,
				Limits.ofBytes(1000));
		Record record = new Record();
		assertThat(reader.read(record)).isTrue();
		assertThatThrownBy(() -> reader.read(record)).isInstanceOf(MalformedBodyException.class)
			.hasMessageContaining("backslash")
			.hasMessageContaining("line 3");
	}

	@Test
	void aBackslashAtTheEndOfACellIsPlain() throws IOException {
		assertThat(words(Operation.SET, "key,value\na,\"C:\\\"\n\"b\\\",2\n"))
			.containsExactly(List.of("SET", "a", "C:\\"), List.of("SET", "b\\", "2"));
	}

	@Test
	void rowWithoutOperationOrWithAGapIsMalformed() throws IOException {
		assertThat(read(null, "op,key,arg1,arg2\n,a,1,2\nSET,a,,2\nFLUSHALL,,,\nFLUSHALL,a,,\n\"\",a,,\nDEL\n"))
			.extracting(Snapshot::code, Snapshot::message)
			.satisfiesExactly(
					(row) -> assertThat(row)
						.isEqualTo(tuple("MALFORMED", "column 'op' is empty, and the request names no operation")),
					(row) -> assertThat(row).isEqualTo(tuple("MALFORMED",
							"column 'arg1' is empty, and 'arg2' is not; write \"\" for the empty string")),
					(row) -> assertThat(row.toList().get(0)).isEqualTo("MALFORMED"),
					(row) -> assertThat(row.toList().get(0)).isEqualTo("UNKNOWN_OPERATION"),
					(row) -> assertThat(row.toList().get(0)).isEqualTo("UNKNOWN_OPERATION"), (row) -> assertThat(row)
						.isEqualTo(tuple("MALFORMED", "the header has 4 columns, and the row 1 cell")));
		assertThat(read(Operation.SET, "key,value\na,1\r2\n").get(0).message())
			.startsWith("a cell with a carriage return stands in quotes");
		assertThat(read(Operation.HSET, "key,f\na,\n").get(0).message())
			.isEqualTo("the row has no field: all columns but 'key' are empty");
	}

	@ParameterizedTest
	@ValueSource(strings = { "a,\"1\nb,2\nDEL,c\n", "a,\"1", "a,\"", "a,\"1\"\"", "\"" })
	void quoteThatIsNotClosedIsOneMalformedRecord(String rows) throws IOException {
		List<Snapshot> snapshots = read(Operation.SET, "key,value\nx,1\n" + rows);
		assertThat(snapshots).extracting(Snapshot::code).containsExactly(null, "MALFORMED");
		assertThat(snapshots.get(1).message()).startsWith("a quoted cell is not closed before the end of the body");
	}

	@Test
	void textInQuotesIsNeverARow() throws IOException {
		List<Snapshot> snapshots = read(null, "op,key,arg1\nSET,a,\"1\nDEL,precious\n\"x\nSET,b,2\n");
		assertThat(snapshots).extracting(Snapshot::line, Snapshot::code)
			.containsExactly(tuple(2L, "MALFORMED"), tuple(5L, null));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', nullValues = "-",
			textBlock = """
					~~              | SET  | the body is empty: expected a header row that names the columns
					user:1,Ada      | SET  | the header has no column 'key'; found: user:1, Ada
					Key,Value       | SET  | the header has no column 'key'; found: Key, Value
					key             | SET  | the header has no column 'value'; found: key
					key,ttl         | SET  | the header has no column 'value'; found: key, ttl
					key,value,name  | SET  | SET takes the columns 'key', 'value' and 'ttl' or 'expireAt', not 'name'
					key,value,arg1  | SET  | SET takes the columns 'key', 'arg1', 'arg2'…, or 'key', 'value' and 'ttl' or 'expireAt', not 'value'
					key,value,value | SET  | the header has two columns 'value'
					key,f,key       | HSET | the header has two columns 'key'
					key,            | HSET | column 2 of the header has no name
					key,""          | HSET | column 2 of the header has no name
					key             | HSET | HSET takes the column 'key' and a column for each field; found: key
					key,value       | -    | the header has no column 'op', and the request names no operation by '?op='; found: key, value
					op,key,value    | -    | rows that name their operation take the columns 'op', 'key', 'arg1', 'arg2'…, not 'value'
					op,arg1         | -    | the header has no column 'key'; found: op, arg1
					op,key,arg2     | -    | the header has no column 'arg1'; found: op, key, arg2
					key,arg0        | DEL  | DEL takes the columns 'key', 'arg1', 'arg2'…, not 'arg0'
					key,arg01       | DEL  | DEL takes the columns 'key', 'arg1', 'arg2'…, not 'arg01'
					"key            | SET  | the header row is not CSV: a quoted cell is not closed before the end of the body
					key,va"lue      | SET  | the header row is not CSV: a cell with a quote stands in quotes
					key,\u0080      | HSET | the header row is not CSV: a cell is not UTF-8: found byte 0x80
					""")
	void invalidHeaderEndsTheBody(String header, @Nullable Operation operation, String message) {
		RecordReader reader = RecordFormat.CSV.open(Snapshot.latin1(header + "\nk,v\n".repeat(header.length())),
				operation, Limits.ofBytes(1000));
		Record record = new Record();
		MalformedBodyException exception = catchThrowableOfType(MalformedBodyException.class,
				() -> reader.read(record));
		assertThat(exception).isNotNull().hasMessageStartingWith(message);
		assertThat(exception.byteOffset()).isLessThanOrEqualTo(2);
		assertThat(record.index()).isNegative();
		assertThatThrownBy(() -> reader.read(record)).isSameAs(exception);
	}

	@Test
	void headerHasItsLimitsToo() throws IOException {
		String columns = IntStream.range(0, 9_999).mapToObj((i) -> "f" + i).collect(Collectors.joining(","));
		assertThat(words(Operation.HSET, "key," + columns + "\nk,v" + ",".repeat(9_998) + "\n"))
			.containsExactly(List.of("HSET", "k", "f0", "v"));
		assertThatThrownBy(() -> read(Operation.HSET, "key,f," + columns + "\n"))
			.hasMessage("the header has more than 10000 columns");
		assertThatThrownBy(() -> read(Operation.HSET, "key,f" + "x".repeat(1 << 20) + "\n"))
			.hasMessage("the header row is larger than 1048576 bytes (pipeset.limits.max-record-bytes)");
	}

	@Test
	void oversizedRowIsOneRecordAndTheNextGoesOn() throws IOException {
		String plain = "a," + "x".repeat(300_000) + "\n";
		String quoted = "b,\"" + "x,\"\"\n".repeat(60_000) + "\"\n";
		String body = "key,value\n" + plain + "c,1\n" + quoted + "d,2\n" + plain + quoted;
		for (int piece : new int[] { 1, 7, 1000, 65_536, body.length() }) {
			List<Snapshot> snapshots = Snapshot
				.readAll(RecordFormat.CSV.open(new SplitBody(body.getBytes(StandardCharsets.UTF_8), piece, piece),
						Operation.SET, Limits.ofBytes(50)));
			assertThat(snapshots).extracting(Snapshot::code, Snapshot::line)
				.containsExactly(tuple("TOO_LARGE", 2L), tuple(null, 3L), tuple("TOO_LARGE", 4L), tuple(null, 60_005L),
						tuple("TOO_LARGE", 60_006L), tuple("TOO_LARGE", 60_007L));
		}
	}

	@Test
	void rowOfExactlyTheLimitIsRead() throws IOException {
		String exact = "a,345678901234567890";
		assertThat(exact).hasSize(20);
		assertThat(Snapshot.readAll(RecordFormat.CSV.open(
				Snapshot.latin1("key,value\n" + exact + "\r\n" + exact + "1\r\n" + exact + "\n" + exact + "1"),
				Operation.SET, Limits.ofBytes(20))))
			.extracting(Snapshot::code)
			.containsExactly(null, "TOO_LARGE", null, "TOO_LARGE");
	}

	@Test
	void rowsInTheBufferNeedNoFurtherRead() throws IOException {
		InputStream body = new PiecesThenSilence("key,value\na,1\nb,\"2\"\nc,3");
		RecordReader reader = RecordFormat.CSV.open(body, Operation.SET, Limits.ofBytes(100));
		Record record = new Record();
		assertThat(reader.read(record)).isTrue();
		assertThat(reader.read(record)).isTrue();
		assertThatThrownBy(() -> reader.read(record)).hasMessage("silence");
	}

	private static List<List<String>> words(@Nullable Operation operation, String csv) throws IOException {
		List<List<String>> words = new ArrayList<>();
		for (Snapshot snapshot : read(operation, csv)) {
			assertThat(snapshot.message()).isNull();
			words.add(snapshot.words());
		}
		return words;
	}

	private static List<Snapshot> read(@Nullable Operation operation, String csv) throws IOException {
		return Snapshot
			.readAll(RecordFormat.CSV.open(Snapshot.latin1(csv), operation, Limits.ofBytes(Snapshot.MAX_RECORD_BYTES)));
	}

}
