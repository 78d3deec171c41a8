package io.pipeset.record.resp;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import com.sun.management.ThreadMXBean;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.Limits;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.PiecesThenSilence;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.body.SplitBody;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.format.Snapshot;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

@Timeout(30)
class RespReaderTests {

	private static final String SET = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n";

	private static final String DEL = "*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n";

	@Test
	void commandsAreMultibulkOrInline() throws IOException {
		assertThat(words(
				SET + "DEL a \"b c\"\r\n" + DEL + "rpop q 2\nSET k '\u00ff\u0001'\r\n\r\n*0\r\n \n" + DEL + "DEL last"))
			.containsExactly(List.of("SET", "k", "v"), List.of("DEL", "a", "b c"), List.of("DEL", "k"),
					List.of("RPOP", "q", "2"), List.of("SET", "k", "\u00ff\u0001"), List.of("DEL", "k"),
					List.of("DEL", "last"));
		assertThat(words("")).isEmpty();
		assertThat(words("\r\n\r\n*0\r\n")).isEmpty();
	}

	@Test
	void valuesAreAnyBytes() throws IOException {
		StringBuilder value = new StringBuilder("\r\n$3\r\n*1\r\n");
		for (int i = 0; i < 256; i++) {
			value.append((char) i);
		}
		String body = "*3\r\n$3\r\nset\r\n$0\r\n\r\n$" + value.length() + "\r\n" + value + "\r\n";
		assertThat(words(body + SET)).containsExactly(List.of("SET", "", value.toString()), List.of("SET", "k", "v"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "*1\r\n$8\r\nFLUSHALL\r\n", "*1\r\n$8\r\nflushall\r\n", "FlushAll\r\n", "'FLUSHALL'\n",
			"*2\r\n$4\r\nKEYS\r\n$1\r\n*\r\n", "*1\r\n$0\r\n\r\n", "*1\r\n$9\r\nSET\r\nk v \r\n",
			"*2\r\n$4\r\nSET \r\n$1\r\nk\r\n", "*1\r\n$13\r\nSET\r\nFLUSHALL\r\n" })
	void unsupportedOperationIsUnknownInEverySpelling(String command) throws IOException {
		List<Snapshot> snapshots = read(command + SET);
		assertThat(snapshots).extracting(Snapshot::code).containsExactly(Rejection.UNKNOWN_OPERATION, null);
		assertThat(snapshots.get(0).operation()).isNull();
		assertThat(snapshots.get(0).line()).isZero();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			*-1                        | the command, or its name, is null |
			*2,$-1,$1,k                | the command, or its name, is null |
			*3,$3,SET,$1,k,$-1         | argument 2 is null                | k
			*3,$3,SET,$-1,$-1          | argument 1 is null                |
			*4,$4,HSET,$1,k,$-1,$1,v   | argument 2 is null                | k
			""")
	void nullIsOneMalformedRecord(String command, String message, @Nullable String key) throws IOException {
		List<Snapshot> snapshots = read(command.replace(",", "\r\n") + "\r\n" + SET);
		assertThat(snapshots).extracting(Snapshot::code).containsExactly(Rejection.MALFORMED, null);
		assertThat(snapshots.get(0).message()).startsWith(message);
		assertThat(snapshots.get(0).arguments()).isEqualTo((key != null) ? List.of(key) : List.of());
	}

	@Test
	void nullsTakeNoMoreThanARecordMay() throws IOException {
		String body = "*400\r\n$3\r\nDEL\r\n" + "$-1\r\n".repeat(399) + SET;
		for (int bytes : new int[] { 100, 3000 }) {
			assertThat(Snapshot.readAll(RecordFormat.RESP.open(Snapshot.latin1(body), null, Limits.ofBytes(bytes)))
				.stream()
				.map(Snapshot::code)).containsExactly((bytes == 100) ? Rejection.TOO_LARGE : Rejection.MALFORMED, null);
		}
	}

	@Test
	void secondCommandInAValueIsAValue() throws IOException {
		assertThat(words("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$14\r\nv\r\nFLUSHALL\r\nx\r\n"))
			.containsExactly(List.of("SET", "k", "v\r\nFLUSHALL\r\nx"));
	}

	@Test
	void invalidOrUnclosedCommandIsMalformed() throws IOException {
		List<Snapshot> snapshots = read("*2\r\n$3\r\nSET\r\n$1\r\nk\r\n" + SET + "SET k a\"v\r\n" + DEL + "SET k a'v");
		assertThat(snapshots).extracting(Snapshot::code)
			.containsExactly("MALFORMED", null, "MALFORMED", null, "MALFORMED");
		assertThat(snapshots.get(0).arguments()).containsExactly("k");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			*-2                    | 2  | expected 1, for the length -1 of a null, found '2'
			*-                     | 2  | expected 1, for the length -1 of a null, found byte 0x0D
			*-12                   | 3  | expected \\r\\n, found '2'
			*                      | 1  | expected the length of a command, 0 to 2147483647, found byte 0x0D
			*2147483648            | 1  | the length of a command must be 0 to 2147483647
			*99999999999999999999  | 1  | the length of a command must be 0 to 2147483647
			*01                    | 1  | the length of a command must be 0 to 2147483647, without leading zeros
			*1x                    | 2  | expected \\r\\n, found 'x'
			*1,$-3                 | 6  | expected 1, for the length -1 of a null, found '3'
			*1,$536870913          | 5  | the length of a bulk string must be 0 to 536870912
			*1,$9223372036854775808 | 5  | the length of a bulk string must be 0 to 536870912
			*1,$+3,DEL             | 5  | expected the length
			*1,$ 3,DEL             | 5  | expected the length
			*2,DEL,k               | 4  | expected '$' and the length of a bulk string, found 'D'
			*2,$2,DEL,$1,k         | 10 | expected \\r\\n, found 'L'
			*2,$5,DEL,$1,k         | 13 | expected \\r\\n, found '$'
			*3,$3,DEL,$1,k         | 20 | the body ends inside a command
			*2,$3,DEL,$1,k,$1,v    | 20 | expected '*' or an inline command, found '$'
			*2,$3,DEL,*1           | 13 | expected '$'
			$1,k                   | 0  | expected '*' or an inline command, found '$'
			+OK                    | 0  | expected '*' or an inline command, found '+'
			:1                     | 0  | expected '*' or an inline command, found ':'
			\u007f                     | 0  | expected '*' or an inline command, found byte 0x7F
			5 DEL k                | 0  | expected '*' or an inline command, found '5'
			""")
	void invalidLengthEndsTheBodyWithAnOffset(String command, long offset, String message) {
		String body = DEL + command.replace(",", "\r\n") + "\r\n";
		RecordReader reader = RecordFormat.RESP.open(Snapshot.latin1(body), null, Limits.ofBytes(100));
		Record record = new Record();
		MalformedBodyException exception = catchThrowableOfType(MalformedBodyException.class, () -> {
			while (reader.read(record)) {
				assertThat(record.index()).isLessThan(10);
			}
		});
		assertThat(exception).isNotNull().hasMessageStartingWith(message);
		assertThat(exception.byteOffset()).isEqualTo(DEL.length() + offset);
		assertThatThrownBy(() -> reader.read(record)).isSameAs(exception);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			*2,$3,DEL,$1,k,        | ,      | lines of RESP end with CR LF; unix2dos converts them
			*2;$3;DEL;$1;\u00fc;   | ;      | a length counts the bytes of a string, and not its characters
			""")
	void commonMistakesAreExplained(String commands, String end, String advice) {
		String body = commands.replace(end, (end.equals(",")) ? "\n" : "\r\n");
		RecordReader reader = RecordFormat.RESP.open(new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)),
				null, Limits.ofBytes(100));
		assertThatThrownBy(() -> reader.read(new Record())).isInstanceOf(MalformedBodyException.class)
			.hasMessageEndingWith(advice);
	}

	@Test
	void truncatedCommandEndsTheBodyAtItsEnd() {
		String body = DEL + SET;
		for (int end = DEL.length() + 1; end < body.length(); end++) {
			RecordReader reader = RecordFormat.RESP.open(Snapshot.latin1(body.substring(0, end)), null,
					Limits.ofBytes(100));
			Record record = new Record();
			MalformedBodyException exception = catchThrowableOfType(MalformedBodyException.class, () -> {
				reader.read(record);
				reader.read(record);
			});
			assertThat(exception).as("end %d", end).hasMessage("the body ends inside a command");
			assertThat(exception.byteOffset()).isEqualTo(end);
			assertThat(record.index()).isZero();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870912\r\n", "*2147483647\r\n$3\r\nDEL\r\n",
			"*3\r\n$3\r\nSET\r\n$536870912\r\nk", "*2147483647\r\n", "*1048577\r\n$536870912\r\n" })
	void declaredLengthIsNotTrusted(String body) throws IOException {
		long before = allocated();
		RecordReader reader = RecordFormat.RESP.open(Snapshot.latin1(body), null, Limits.ofBytes(16 << 20));
		Record record = new Record();
		assertThat(reader.read(record)).isTrue();
		assertThat(record.rejection().code()).isEqualTo(Rejection.TOO_LARGE);
		assertThatThrownBy(() -> reader.read(record)).isInstanceOf(MalformedBodyException.class)
			.hasMessage("the body ends inside a command");
		assertThat(allocated() - before).isLessThan(4 << 20);
	}

	@Test
	void lengthWithinTheLimitIsNotTrustedEither() {
		long before = allocated();
		RecordReader reader = RecordFormat.RESP.open(Snapshot.latin1("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870000\r\nv"),
				null, Limits.ofBytes(512 << 20));
		assertThatThrownBy(() -> reader.read(new Record())).isInstanceOf(MalformedBodyException.class);
		assertThat(allocated() - before).isLessThan(4 << 20);
	}

	@Test
	void oversizedCommandIsSkippedExactly() throws IOException {
		String giant = "*4\r\n$3\r\nDEL\r\n$1\r\nk\r\n$270000\r\n" + "*1\r\n$8\r\nFLUSHALL\r\n".repeat(15_000)
				+ "\r\n$5\r\nx\r\nyz\r\n";
		String inline = "DEL " + "x".repeat(300_000) + "\r\n";
		String body = SET + giant + DEL + inline + SET + giant + inline;
		for (int piece : new int[] { 1, 7, 1000, 65_536, body.length() }) {
			List<Snapshot> snapshots = Snapshot
				.readAll(RecordFormat.RESP.open(new SplitBody(bytes(body), piece, piece), null, Limits.ofBytes(50)));
			assertThat(snapshots).extracting(Snapshot::code)
				.containsExactly(null, "TOO_LARGE", null, "TOO_LARGE", null, "TOO_LARGE", "TOO_LARGE");
			assertThat(snapshots.get(1).message())
				.isEqualTo("the record is larger than 50 bytes (pipeset.limits.max-record-bytes)");
		}
	}

	@Test
	void commandOfExactlyTheLimitIsRead() throws IOException {
		assertThat(Snapshot
			.readAll(RecordFormat.RESP.open(Snapshot.latin1(SET + DEL), null, Limits.ofBytes(SET.length()))))
			.extracting(Snapshot::code)
			.containsExactly(null, null);
		assertThat(Snapshot
			.readAll(RecordFormat.RESP.open(Snapshot.latin1(SET + DEL), null, Limits.ofBytes(SET.length() - 1))))
			.extracting(Snapshot::code)
			.containsExactly("TOO_LARGE", null);
	}

	@Test
	void commandOfTooManyWordsIsSkippedExactly() throws IOException {
		String words = "$1\r\nk\r\n".repeat(RecordLimit.DEFAULT_ARGUMENTS + 1);
		List<Snapshot> snapshots = read("*" + (RecordLimit.DEFAULT_ARGUMENTS + 2) + "\r\n$3\r\nDEL\r\n" + words + DEL);
		assertThat(snapshots).extracting(Snapshot::code).containsExactly("TOO_LARGE", null);
		assertThat(snapshots.get(0).message())
			.isEqualTo("the record has more than 1000000 arguments (pipeset.limits.max-arguments)");
	}

	@Test
	void commandsInTheBufferNeedNoFurtherRead() throws IOException {
		InputStream body = new PiecesThenSilence(SET + DEL + "*2\r\n$3\r\nDEL\r\n");
		RecordReader reader = RecordFormat.RESP.open(body, null, Limits.ofBytes(100));
		Record record = new Record();
		assertThat(reader.read(record)).isTrue();
		assertThat(reader.read(record)).isTrue();
		assertThatThrownBy(() -> reader.read(record)).hasMessage("silence");
	}

	private static List<List<String>> words(String body) throws IOException {
		List<List<String>> words = new ArrayList<>();
		for (Snapshot snapshot : read(body)) {
			assertThat(snapshot.message()).isNull();
			words.add(snapshot.words());
		}
		return words;
	}

	private static List<Snapshot> read(String body) throws IOException {
		return Snapshot.readAll(RecordFormat.RESP.open(Snapshot.latin1(body), null, Limits.ofBytes(16 << 20)));
	}

	private static byte[] bytes(String latin1) {
		return latin1.getBytes(StandardCharsets.ISO_8859_1);
	}

	private static long allocated() {
		return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
	}

}
