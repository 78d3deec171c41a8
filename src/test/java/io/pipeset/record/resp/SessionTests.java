package io.pipeset.record.resp;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;

import io.pipeset.record.Notice;
import io.pipeset.record.OperationFinder;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.body.Limits;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.format.Snapshot;
import io.pipeset.record.memory.MemoryReservation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Commands that only concern the connection, in both formats that have them. */
class SessionTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			SELECT 3,SET a 1                       | ok
			select 3,SET a 1                       | ok
			"SELECT" '3',SET a 1                   | ok
			SET a 1,SELECT 3,SET b 2               | WRONG_DATABASE ok
			SELECT 0,SET a 1,SELECT 3,SET b 2      | WRONG_DATABASE ok
			SeLeCt 7,SET a 1,FLUSHALL,SET b,INCR c | WRONG_DATABASE WRONG_DATABASE WRONG_DATABASE WRONG_DATABASE
			SELECT 33,SET a 1                      | WRONG_DATABASE
			SELECT 99999999999,SET a 1             | MALFORMED WRONG_DATABASE
			SELECT 03,SET a 1,SELECT 3,SET b 2     | MALFORMED WRONG_DATABASE ok
			SELECT,SET a 1                         | MALFORMED WRONG_DATABASE
			SELECT 3 3,SET a 1                     | MALFORMED WRONG_DATABASE
			SELECT x,SET a 1                       | MALFORMED WRONG_DATABASE
			SELECT -1,SET a 1                      | MALFORMED WRONG_DATABASE
			MULTI,SET a 1,EXEC,SET b 2             | WRONG_DATABASE WRONG_DATABASE
			SELECT 3,MULTI,SET a 1,exec            | ok
			""")
	void recordsOfOtherDatabasesAreRefused(String commands, String codes) throws IOException {
		// Without a SELECT, records belong to the database that is written to.
		String body = (commands.startsWith("S")) ? commands : "SELECT 0," + commands;
		body = (body.startsWith("SET")) ? "SELECT 0," + body : body;
		for (RecordFormat format : List.of(RecordFormat.TEXT, RecordFormat.RESP)) {
			assertThat(Snapshot.readAll(open(format, lines(body), 3))).as(format.name())
				.extracting((record) -> (record.code() != null) ? record.code() : "ok")
				.containsExactly(codes.split(" "));
		}
		if (!body.contains("\"")) {
			assertThat(Snapshot.readAll(open(RecordFormat.RESP, multibulk(body), 3)))
				.extracting((record) -> (record.code() != null) ? record.code() : "ok")
				.containsExactly(codes.split(" "));
		}
	}

	@Test
	void refusedRecordsKeepTheirKeyAndCount() throws IOException {
		List<Snapshot> records = text("SET a 1\nSELECT 5\nHSET h f v\nSET a\"x\n# a remark\nSELECT 0\nSET b 2\n");
		assertThat(records).extracting(Snapshot::index).containsExactly(0L, 1L, 2L, 3L);
		assertThat(records).extracting(Snapshot::line).containsExactly(1L, 3L, 4L, 7L);
		assertThat(records).extracting(Snapshot::code).containsExactly(null, "WRONG_DATABASE", "MALFORMED", null);
		assertThat(records.get(1).operation()).isEqualTo("HSET");
		assertThat(records.get(1).arguments()).startsWith("h");
		assertThat(records.get(1).message()).contains("database 5").contains("database 0");
	}

	@Test
	void selectInUnclosedQuotesLeavesTheDatabase() throws IOException {
		assertThat(text("SELECT a\"0\nSET a 1\n")).extracting(Snapshot::code)
			.containsExactly("MALFORMED", "WRONG_DATABASE");
	}

	@Test
	void selectOfANullLeavesTheDatabase() throws IOException {
		assertThat(Snapshot.readAll(open(RecordFormat.RESP, "*2\r\n$6\r\nSELECT\r\n$-1\r\n" + multibulk("SET a 1"), 0)))
			.extracting(Snapshot::code)
			.containsExactly("MALFORMED", "WRONG_DATABASE");
	}

	@ParameterizedTest
	@ValueSource(strings = { "SELECT", "select", "SWAPDB", "RESET" })
	void otherFormatsRefuseRecordsAfterIt(String name) throws IOException {
		String set = "\nSET,a,1\nSET,b,2\n";
		assertThat(Snapshot.ndjson(
				"[\"SET\",\"a\",\"0\"]\n[\"" + name + "\",\"0\"]\n[\"SET\",\"a\",\"1\"]\n" + "[\"SET\",\"b\",\"2\"]\n"))
			.extracting(Snapshot::code)
			.containsExactly(null, "UNKNOWN_OPERATION", "WRONG_DATABASE", "WRONG_DATABASE");
		assertThat(Snapshot.json("[{\"op\":\"" + name + "\",\"key\":\"0\"},[\"SET\",\"a\",\"1\"]]"))
			.extracting(Snapshot::code)
			.containsExactly("UNKNOWN_OPERATION", "WRONG_DATABASE");
		assertThat(Snapshot.readAll(open(RecordFormat.CSV, "op,key,arg1\n" + name + ",0," + set, 0)))
			.extracting(Snapshot::code)
			.containsExactly("UNKNOWN_OPERATION", "WRONG_DATABASE", "WRONG_DATABASE");
	}

	@ParameterizedTest
	@CsvSource({ "DISCARD, since MULTI", "discard, since MULTI", "SWAPDB 0 1, 'is not run'", "RESET, 'is not run'" })
	void theBodyEndsAtCommandsThatChangeTheMeaningOfLaterOnes(String command, String message) throws IOException {
		for (RecordFormat format : List.of(RecordFormat.TEXT, RecordFormat.RESP)) {
			RecordReader reader = open(format, "MULTI\r\nSET a 1\r\n" + command + "\r\nSET b 1\r\n", 0);
			assertThat(reader.read(new Record())).isTrue();
			for (int i = 0; i < 2; i++) {
				MalformedBodyException lost = catchThrowableOfType(MalformedBodyException.class,
						() -> reader.read(new Record()));
				assertThat(lost).hasMessageContaining(message);
				assertThat(lost.byteOffset()).isEqualTo("MULTI\r\nSET a 1\r\n".length());
			}
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "TEXT", "RESP" })
	void transactionsAreCountedAndHaveToEnd(RecordFormat format) throws IOException {
		RecordReader reader = open(format, lines("MULTI,SET a 1,EXEC,EXEC,multi,SET b 1,MULTI,SET c 1,exec"), 0);
		assertThat(Snapshot.readAll(reader)).extracting(Snapshot::code).containsOnlyNulls().hasSize(3);
		assertThat(reader.notices()).extracting(Notice::count).containsExactly(2L);
		RecordReader broken = open(format, lines("SET a 1,MULTI,SET b 1"), 0);
		assertThat(catchThrowableOfType(MalformedBodyException.class, () -> Snapshot.readAll(broken)))
			.hasMessageContaining("without its EXEC");
	}

	@ParameterizedTest
	@EnumSource(names = { "TEXT", "RESP" })
	void linesThatBeginWithASharpAreComments(RecordFormat format) throws IOException {
		String body = "#TS:1\r\n\r\n# *3\r\nSET a 1\r\n#\r\n"
				+ ((format == RecordFormat.RESP) ? multibulk("SET b 2") : "") + "SET c #3\r\n#TS:2";
		assertThat(Snapshot.readAll(open(format, body, 0))).extracting((record) -> record.arguments().get(0))
			.containsExactly(
					(format == RecordFormat.RESP) ? new String[] { "a", "b", "c" } : new String[] { "a", "c" });
		assertThat(Snapshot.readAll(open(format, "#", 0))).isEmpty();
	}

	private static List<Snapshot> text(String body) throws IOException {
		return Snapshot.readAll(open(RecordFormat.TEXT, body, 0));
	}

	private static RecordReader open(RecordFormat format, String body, int database) {
		return format.open(Snapshot.latin1(body), null, new RecordLimit(1000, Limits.ofBytes(1000).arguments(),
				MemoryReservation.UNLIMITED, database, OperationFinder.TABLE));
	}

	private static String lines(String commands) {
		return commands.replace(",", "\r\n") + "\r\n";
	}

	private static String multibulk(String commands) {
		StringBuilder body = new StringBuilder();
		for (String command : commands.split(",", -1)) {
			String[] words = command.replace("'", "").split(" ", -1);
			body.append("*" + words.length + "\r\n");
			Stream.of(words).forEach((word) -> body.append("$" + word.length() + "\r\n" + word + "\r\n"));
		}
		return body.toString();
	}

}
