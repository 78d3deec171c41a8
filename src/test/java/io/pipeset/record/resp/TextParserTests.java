package io.pipeset.record.resp;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import io.pipeset.record.Notice;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.Limits;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.format.Snapshot;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

class TextParserTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			SET k v                          | SET;k;v
			set  k \t v  EX 60               | SET;k;v;EX;60
			SET k ""                         | SET;k;
			SET '' ''                        | SET;;
			SET k "a b"                      | SET;k;a b
			SET k 'a b'                      | SET;k;a b
			SET k "\\x41\\x7a\\x4G\\x"       | SET;k;Azx4Gx
			SET k 'it\\'s'                   | SET;k;it's
			SET k '\\n\\x41\\z'              | SET;k;\\n\\x41\\z
			SET k a"b c"                     | SET;k;ab c
			SET k a'b c'                     | SET;k;ab c
			SET k it\\s\\n                   | SET;k;it\\s\\n
			"SET" 'k' v                      | SET;k;v
			SET k {"a":1}                    | !
			SET k '{"a":1}'                  | SET;k;{"a":1}
			SET k "\\"\\'"                   | SET;k;"'
			SET k *3                         | SET;k;*3
			""")
	void wordsAreThoseOfRedisCli(String line, String words) throws IOException {
		Snapshot snapshot = line(line);
		if (words.equals("!")) {
			assertThat(snapshot.code()).isEqualTo(Rejection.MALFORMED);
		}
		else {
			assertThat(snapshot.message()).isNull();
			assertThat(snapshot.words()).isEqualTo(List.of(words.split(";", -1)));
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					SET k v"v    | a quoted word is not closed: expected ", found the end of the line (byte 9
					SET k don't  | a quoted word is not closed: expected ', found the end of the line (byte 11
					SET k {"a":1 | expected a space or the end of the line after a closing quote, found ':'; a JSON document stands in single quotes (byte 10
					SET k "v"x   | expected a space or the end of the line after a closing quote, found 'x' (byte 9
					SET k 'v''   | expected a space or the end of the line after a closing quote, found ''' (byte 9
					SET k a\0b   | a NUL is written as "\\x00", in double quotes (byte 7
					SET k "\\\0" | a NUL is written as "\\x00", in double quotes (byte 8
					SET k        | SET takes
					""")
	void invalidLineIsMalformed(String line, String message) throws IOException {
		Snapshot snapshot = line(line);
		assertThat(snapshot.code()).isEqualTo(Rejection.MALFORMED);
		assertThat(snapshot.message()).startsWith(message);
		if (line.startsWith("SET")) {
			assertThat(snapshot.operation()).isEqualTo("SET");
			assertThat(snapshot.arguments().get(0)).isEqualTo("k");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET k a\rb c", "SADD k x\rSADD b y", "\"SET\"\r k v", "SET k v\r\r" })
	void aCarriageReturnIsTheEndOfALineOnlyBeforeALineFeed(String line) throws IOException {
		assertThat(read(line + "\r\nDEL k")).extracting(Snapshot::code).containsExactly(Rejection.MALFORMED, null);
		assertThat(read(line + "\r\n").get(0).message())
			.startsWith("a carriage return stands outside of quotes: lines end with LF or CRLF");
		assertThat(read("SET k \"a\rb\"\r\n").get(0).words()).containsExactly("SET", "k", "a\rb");
	}

	/** The next lines may be the rest of a text, and no commands. */
	@ParameterizedTest
	@ValueSource(strings = { "SET k \"v", "SET k 'v", "SET k \"v\\", "SET k '\\'", "SET k \"\u00ff v", "SET k a\rb \"c",
			"SET k \"v\"x 'y", "SET k don't \"v", "\"", "DEL k \"a\" \"b" })
	void aQuoteThatIsOpenAtTheEndOfItsLineEndsTheBody(String line) {
		RecordReader reader = RecordFormat.TEXT.open(Snapshot.latin1("DEL a\n" + line + "\nFLUSHALL\"\nDEL b\n"), null,
				Limits.ofBytes(Snapshot.MAX_RECORD_BYTES));
		MalformedBodyException lost = catchThrowableOfType(MalformedBodyException.class,
				() -> Snapshot.readAll(reader));
		assertThat(lost).hasMessageContaining("a quoted word is not closed before the end of its line (line 2)");
		assertThat(lost.byteOffset()).isEqualTo(6);
	}

	@Test
	void aLineThatIsTooLargeMayHaveAnOpenQuoteToo() throws IOException {
		for (String line : List.of("SET k \"" + "x".repeat(100) + "\"", "SET k '" + "x".repeat(100) + " \" '")) {
			assertThat(Snapshot
				.readAll(RecordFormat.TEXT.open(Snapshot.latin1(line + "\nDEL b"), null, Limits.ofBytes(50))))
				.extracting(Snapshot::code)
				.containsExactly(Rejection.TOO_LARGE, null);
		}
		for (String line : List.of("SET k \"" + "x".repeat(100), "SET k \"" + "x".repeat(100) + "\\\"")) {
			RecordReader reader = RecordFormat.TEXT.open(Snapshot.latin1(line + "\nDEL b"), null, Limits.ofBytes(50));
			Record record = new Record();
			assertThat(reader.read(record)).isTrue();
			assertThatThrownBy(() -> reader.read(record)).isInstanceOf(MalformedBodyException.class);
		}
	}

	@Test
	void escapesThatRedisCliDoesNotKnowAreTold() throws IOException {
		RecordReader reader = RecordFormat.TEXT.open(
				Snapshot.latin1("SET k \"\\n\\x41\\\"\\\\\"\nSET k \"caf\\u00e9 \\/\"\nSET k '\\u00e9'\n"), null,
				Limits.ofBytes(1000));
		assertThat(Snapshot.readAll(reader)).extracting((record) -> record.arguments().get(1))
			.containsExactly("\nA\"\\", "cafu00e9 /", "\\u00e9");
		assertThat(reader.notices()).extracting(Notice::code, Notice::count, Notice::line)
			.containsExactly(tuple("DROPPED_BACKSLASHES", 2L, 2L));
	}

	@Test
	void escapesStandForControlCharacters() throws IOException {
		assertThat(line("SET k \"\\n\\r\\t\\b\\a\\q\\\\\"").words()).containsExactly("SET", "k", "\n\r\t\b\u0007q\\");
		assertThat(line("\u000B").code()).isEqualTo(Rejection.MALFORMED);
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET k \u00ff", "SET k \"\u00c0\u0080\"", "SET k '\u00ed\u00a0\u0080'",
			"SET k \"\\\u00e9\"", "SET \u00e9 v", "\u00e9" })
	void otherBytesThanUtf8AreRefusedUnlessTheyAreEscaped(String line) throws IOException {
		Snapshot snapshot = read(line).get(0);
		assertThat(snapshot.code()).isEqualTo(Rejection.MALFORMED);
		assertThat(snapshot.message()).contains("is UTF-8").contains("\\xHH");
		assertThat(read("SET k \"\\xff\\xC0\\x00\\\u00c3\u00a9\"").get(0).words()).containsExactly("SET", "k",
				"\u00ff\u00c0\u0000\u00c3\u00a9");
	}

	@ParameterizedTest
	@ValueSource(strings = { "FLUSHALL", "flushall", "CONFIG SET dir /tmp", "\"\\x46LUSHALL\"", "MULTI 1", "EVAL 'x' 0",
			"5 DEL k", "SETX k v", "\"\" k", "SET\u000B k v" })
	void unsupportedOperationIsUnknownInEverySpelling(String line) throws IOException {
		assertThat(line(line).code()).isEqualTo(Rejection.UNKNOWN_OPERATION);
		assertThat(line(line).operation()).isNull();
	}

	@Test
	void operationThatContinuesAfterItsQuotesIsMalformed() throws IOException {
		assertThat(line("\"FLUSH\"ALL").code()).isEqualTo(Rejection.MALFORMED);
		assertThat(line("\"FLUSH\"ALL").operation()).isNull();
	}

	@Test
	void invalidLineDoesNotAffectOtherLines() throws IOException {
		assertThat(read("\u00ef\u00bb\u00bfDEL a\r\n\n  \t\nSET k a\"v\nFLUSHALL\nDEL b\r\nSET k a'x"))
			.extracting(Snapshot::index, Snapshot::line, Snapshot::code)
			.containsExactly(tuple(0L, 1L, null), tuple(1L, 4L, "MALFORMED"), tuple(2L, 5L, "UNKNOWN_OPERATION"),
					tuple(3L, 6L, null), tuple(4L, 7L, "MALFORMED"));
	}

	@Test
	void recordIsTooLargeByItsBytesOrByItsWords() throws IOException {
		assertThat(Snapshot.readAll(
				RecordFormat.TEXT.open(Snapshot.latin1("DEL " + "x".repeat(30) + "\nDEL k"), null, Limits.ofBytes(20))))
			.extracting(Snapshot::code)
			.containsExactly(Rejection.TOO_LARGE, null);
		RecordReader reader = RecordFormat.TEXT.open(
				Snapshot.latin1("DEL" + " k".repeat(RecordLimit.DEFAULT_ARGUMENTS + 1) + "\nDEL k"), null,
				Limits.ofBytes(1 << 24));
		Record record = new Record();
		assertThat(reader.read(record)).isTrue();
		assertThat(record.rejection()).isEqualTo(new Rejection(Rejection.TOO_LARGE,
				"the record has more than 1000000 arguments (pipeset.limits.max-arguments)"));
		assertThat(reader.read(record)).isTrue();
		assertThat(record.rejection()).isNull();
	}

	@Test
	void randomLinesAreSplitAsRedisSplitsThem() throws IOException {
		byte[] alphabet = " \t\r\u000B\"'\\xn4aAf;k".getBytes(StandardCharsets.ISO_8859_1);
		for (int seed = 0; seed < 20_000; seed++) {
			Random random = new Random(seed);
			StringBuilder line = new StringBuilder("DEL k");
			for (int i = random.nextInt(24); i >= 0; i--) {
				line.append((char) alphabet[random.nextInt(alphabet.length)]);
			}
			List<String> expected = split(line + "\0\0\0\0");
			Snapshot snapshot;
			try {
				snapshot = read(line.toString()).get(0);
			}
			catch (MalformedBodyException ex) {
				assertThat(expected).as("seed %d: %s", seed, line).isNull();
				continue;
			}
			boolean returns = snapshot.message() != null && snapshot.message().contains("a carriage return");
			if (expected == null || returns) {
				assertThat(snapshot.code()).as("seed %d: %s", seed, line).isEqualTo(Rejection.MALFORMED);
				assertThat(!returns || line.indexOf("\r") < line.length() - 1).isTrue();
			}
			else {
				assertThat(snapshot.words()).as("seed %d: %s", seed, line).isEqualTo(expected);
			}
		}
	}

	private static Snapshot line(String line) throws IOException {
		List<Snapshot> snapshots = Snapshot
			.readAll(RecordFormat.TEXT.open(new ByteArrayInputStream(line.getBytes(StandardCharsets.UTF_8)), null,
					Limits.ofBytes(Snapshot.MAX_RECORD_BYTES)));
		assertThat(snapshots).hasSize(1);
		return snapshots.get(0);
	}

	private static List<Snapshot> read(String latin1) throws IOException {
		return Snapshot
			.readAll(RecordFormat.TEXT.open(Snapshot.latin1(latin1), null, Limits.ofBytes(Snapshot.MAX_RECORD_BYTES)));
	}

	/** A literal translation of sdssplitargs from Redis 7.0; a NUL ends the line. */
	private static @Nullable List<String> split(String line) {
		List<String> words = new ArrayList<>();
		int p = 0;
		while (true) {
			while (isSpace(line.charAt(p))) {
				p++;
			}
			if (line.charAt(p) == 0) {
				return words;
			}
			boolean inq = false;
			boolean insq = false;
			boolean done = false;
			StringBuilder current = new StringBuilder();
			while (!done) {
				char c = line.charAt(p);
				char next = (c != 0) ? line.charAt(p + 1) : 0;
				if (inq) {
					if (c == '\\' && next == 'x' && isHex(line.charAt(p + 2)) && isHex(line.charAt(p + 3))) {
						current.append((char) Integer.parseInt(line.substring(p + 2, p + 4), 16));
						p += 3;
					}
					else if (c == '\\' && next != 0) {
						p++;
						int escape = "nrtba".indexOf(next);
						current.append((escape < 0) ? next : "\n\r\t\b\u0007".charAt(escape));
					}
					else if (c == '"') {
						if (next != 0 && !isSpace(next)) {
							return null;
						}
						done = true;
					}
					else if (c == 0) {
						return null;
					}
					else {
						current.append(c);
					}
				}
				else if (insq) {
					if (c == '\\' && next == '\'') {
						p++;
						current.append('\'');
					}
					else if (c == '\'') {
						if (next != 0 && !isSpace(next)) {
							return null;
						}
						done = true;
					}
					else if (c == 0) {
						return null;
					}
					else {
						current.append(c);
					}
				}
				else if (" \n\r\t\0".indexOf(c) >= 0) {
					done = true;
				}
				else if (c == '"') {
					inq = true;
				}
				else if (c == '\'') {
					insq = true;
				}
				else {
					current.append(c);
				}
				if (line.charAt(p) != 0) {
					p++;
				}
			}
			words.add(current.toString());
		}
	}

	private static boolean isSpace(char c) {
		return " \t\n\u000B\f\r".indexOf(c) >= 0;
	}

	private static boolean isHex(char c) {
		return Character.digit(c, 16) >= 0;
	}

}
