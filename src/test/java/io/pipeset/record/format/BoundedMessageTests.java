package io.pipeset.record.format;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;

import com.sun.management.ThreadMXBean;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.Limits;
import io.pipeset.record.body.MalformedBodyException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The message about an invalid record is short and needs little memory, however large the
 * record is.
 */
class BoundedMessageTests {

	private static final int LARGE = 256 << 10;

	private static final int MOST_CHARACTERS = 600;

	private static final int MOST_ALLOCATED = 32 << 10;

	private static final String SHA = "0123456789012345678901234567890123456789";

	@ParameterizedTest
	@ValueSource(strings = { "[\"RPOP\",\"k\",\"%s\"]", "[\"INCRBY\",\"k\",\"%s\"]", "[\"INCRBY\",\"k\",1%s]",
			"[\"HINCRBY\",\"k\",\"f\",\"%s\"]", "[\"SETBIT\",\"k\",\"%s\",1]", "[\"SETBIT\",\"k\",1,\"%s\"]",
			"[\"EXPIRE\",\"k\",\"%s\"]", "[\"EXPIRE\",\"k\",1,\"%s\"]", "[\"SET\",\"k\",\"v\",\"%s\"]",
			"[\"SET\",\"k\",\"v\",\"EX\",\"%s\"]", "[\"XADD\",\"k\",\"MAXLEN\",\"x%s\",\"*\",\"f\",\"v\"]",
			"[\"XADD\",\"k\",\"x%s\",\"*\",\"f\",\"v\"]", "[\"EVALSHA\",\"%s\",0]",
			"[\"EVALSHA\",\"" + SHA + "\",\"%s\"]", "[\"x%s\"]", "{\"op\":\"x%s\"}", "{\"x%s\":1}", "\"%s\"",
			"{\"id\":\"%s\"}", "{\"ttl\":\"%s\"}", "{\"ttl\":1%s}", "{\"fields\":{\"%s\":null}}",
			"{\"op\":\"DEL\",\"encoding\":\"base64\",\"key\":\"%s\"}" })
	void quotedTextIsShortened(String record) throws IOException {
		assertShort(RecordFormat.NDJSON, null, record.formatted("1".repeat(LARGE + 1)) + "\n");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			["DEL",%s"k"]                 | null,
			["SET","k","%s"]              | \u00ff
			["SET","k","%s"]              | \\ud800
			{%s"x":1}                     | "x":1,
			{%s"key":"k"}                 | "op":"DEL",
			{"args":[%s{}]}               | [],
			{"fields":{%s"a":null}}       | "a":null,
			""")
	void aRepeatedMistakeIsReportedOnce(String record, String again) throws IOException {
		assertShort(RecordFormat.NDJSON, null, record.formatted(again.repeat(LARGE / again.length())) + "\n");
	}

	@Test
	void aLineAndARowAreNoDifferent() throws IOException {
		String large = "x".repeat(LARGE);
		assertShort(RecordFormat.TEXT, null, large + " k\n");
		assertShort(RecordFormat.TEXT, null, "INCRBY k " + large + "\n");
		assertShort(RecordFormat.CSV, Operation.INCRBY, "k," + large + "\n", "key,arg1\n");
		assertShort(RecordFormat.CSV, Operation.SET, "k,v," + large + "\n", "key,value,ttl\n");
		assertShort(RecordFormat.CSV, null, large + ",k\n", "op,key\n");
		String resp = "*2\r\n$" + LARGE + "\r\n" + large + "\r\n$1\r\nk\r\n";
		assertShort(RecordFormat.RESP, null, resp);
	}

	@Test
	void columnsOfAHeaderAreShortenedToo() {
		String large = "x".repeat(1000);
		for (String header : new String[] { "key," + large, "key,op," + large, "user," + large,
				"key," + large + "," + large, "key,value," + large }) {
			RecordReader reader = RecordFormat.CSV.open(Snapshot.latin1(header + "\n"), Operation.SET,
					Limits.ofBytes(LARGE));
			assertThatExceptionOfType(MalformedBodyException.class).isThrownBy(() -> reader.read(new Record()))
				.satisfies((ex) -> assertThat(ex.getMessage()).hasSizeLessThan(MOST_CHARACTERS)
					.contains("x".repeat(60))
					.contains("… (1000 bytes)"));
		}
	}

	@Test
	void aShortenedTextEndsWithAWholeCharacter() {
		String message = Snapshot.line("[\"é" + "😀".repeat(100) + "\"]").message();
		assertThat(message).startsWith("operation 'é" + "😀".repeat(15) + "… (402 bytes)' is not");
		assertThat(Snapshot.line("[\"" + "x".repeat(64) + "\"]").message())
			.startsWith("operation '" + "x".repeat(64) + "' is not");
	}

	/**
	 * A body may have millions of unknown names. Each costs one short message and a
	 * search for the nearest name, but no list of all operations.
	 */
	@Test
	void anUnknownNameAllocatesNoListOfOperations() throws IOException {
		RecordReader reader = RecordFormat.NDJSON.open(Snapshot.latin1("[\"X\"]\n".repeat(2000)), null,
				Limits.ofBytes(LARGE));
		Record record = new Record();
		reader.read(record);
		long before = allocated();
		while (reader.read(record)) {
			assertThat(record.rejection()).isNotNull();
		}
		assertThat((allocated() - before) / 2000).isLessThan(2000L);
	}

	private static void assertShort(RecordFormat format, @Nullable Operation operation, String body)
			throws IOException {
		assertShort(format, operation, body, "");
	}

	/** The first two records enlarge the buffers that all later records use. */
	private static void assertShort(RecordFormat format, @Nullable Operation operation, String record, String header)
			throws IOException {
		RecordReader reader = format.open(Snapshot.latin1(header + record.repeat(6)), operation,
				Limits.ofBytes(8 * LARGE));
		Record read = new Record();
		assertThat(reader.read(read)).isTrue();
		assertThat(reader.read(read)).isTrue();
		long before = allocated();
		for (int i = 0; i < 4; i++) {
			assertThat(reader.read(read)).isTrue();
		}
		assertThat(allocated() - before).as("bytes for four messages").isLessThan(MOST_ALLOCATED);
		Rejection rejection = read.rejection();
		assertThat(rejection).isNotNull();
		assertThat(rejection.message().getBytes(StandardCharsets.UTF_8).length).isLessThan(MOST_CHARACTERS);
		assertThat(reader.read(read)).isFalse();
	}

	private static long allocated() {
		return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
	}

}
