package io.pipeset.record.format;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.RecordReader;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.memory.CountedReservation;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.record.memory.MemoryReservation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * In every format, the memory for many arguments is reserved before the arguments are
 * stored.
 */
class ArgumentMemoryTests {

	private static final int MANY = 20_000;

	private static final int ARGUMENT_BYTES = 12;

	private static final int SPAN_BYTES = 8;

	static Stream<Arguments> formats() {
		return Stream.of(
				Arguments.of(RecordFormat.NDJSON, "[\"SADD\",\"s\"" + ",1".repeat(MANY) + "]\n",
						"[\"SADD\",\"s\",1]\n"),
				Arguments.of(RecordFormat.NDJSON,
						"{\"op\":\"SADD\",\"key\":\"s\",\"args\":[1" + ",1".repeat(MANY) + "]}\n",
						"[\"SADD\",\"s\",1]\n"),
				Arguments.of(RecordFormat.NDJSON,
						"{\"op\":\"HSET\",\"key\":\"h\",\"fields\":{\"f\":1" + ",\"f\":1".repeat(MANY / 2) + "}}\n",
						"[\"SADD\",\"s\",1]\n"),
				Arguments.of(RecordFormat.JSON, "[[\"SADD\",\"s\"" + ",1".repeat(MANY) + "],", "[\"SADD\",\"s\",1]]"),
				Arguments.of(RecordFormat.TEXT, "SADD s" + " 1".repeat(MANY) + "\n", "SADD s 1\n"),
				Arguments.of(RecordFormat.RESP,
						"*" + (MANY + 2) + "\r\n$4\r\nSADD\r\n" + "$1\r\n1\r\n".repeat(MANY + 1),
						"*3\r\n$4\r\nSADD\r\n$1\r\ns\r\n$1\r\n1\r\n"));
	}

	@ParameterizedTest
	@MethodSource("formats")
	void memoryForArgumentsAndSpansIsReservedAndReleased(RecordFormat format, String large, String small)
			throws IOException {
		AtomicLong held = new AtomicLong();
		RecordLimit limit = limit(new CountedReservation(held, false));
		Record record = new Record(RecordDefaults.NONE, limit.memory());
		RecordReader reader = format.open(Snapshot.latin1(large + small), null, limit);
		assertThat(reader.read(record)).isTrue();
		assertThat(record.rejection()).isNull();
		long many = held.get();
		assertThat(reader.read(record)).isTrue();
		assertThat(many - held.get()).isGreaterThan((long) MANY * (ARGUMENT_BYTES + SPAN_BYTES));
	}

	@ParameterizedTest
	@MethodSource("formats")
	void spansAreNotAddedWithoutMemoryForThem(RecordFormat format, String large, String small) {
		RecordLimit limit = limit(new NoRoom());
		Record record = new Record(RecordDefaults.NONE, MemoryReservation.UNLIMITED);
		RecordReader reader = format.open(Snapshot.latin1(large + small), null, limit);
		assertThatThrownBy(() -> reader.read(record)).isInstanceOf(MemoryLimitException.class);
	}

	static Stream<Arguments> largeThenSmall() {
		String value = "v".repeat(900_000);
		return Stream.of(
				Arguments.of(RecordFormat.NDJSON, "[\"SET\",\"k\",\"" + value + "\"]\n", "[\"SET\",\"k\",\"v\"]\n"),
				Arguments.of(RecordFormat.JSON, "[[\"SET\",\"k\",\"" + value + "\"]", ",[\"SET\",\"k\",\"v\"]"),
				Arguments.of(RecordFormat.CSV, "key,value\nk," + value + "\n", "k,v\n"),
				Arguments.of(RecordFormat.TEXT, "SET k " + value + "\n", "SET k v\n"),
				Arguments.of(RecordFormat.RESP, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$900000\r\n" + value + "\r\n",
						"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"));
	}

	@ParameterizedTest
	@MethodSource("largeThenSmall")
	void aLargeBufferIsReleasedAtTheNextRecordIfAThreadWaitsForMemory(RecordFormat format, String large, String small)
			throws IOException {
		AtomicLong held = new AtomicLong();
		RecordLimit limit = limit(new CountedReservation(held, true));
		Record record = new Record(RecordDefaults.NONE, limit.memory());
		RecordReader reader = format.open(Snapshot.latin1(large + small.repeat(100_000)), Operation.SET, limit);
		assertThat(reader.read(record)).isTrue();
		long before = held.get();
		assertThat(before).isGreaterThan(900_000);
		assertThat(reader.read(record)).isTrue();
		assertThat(before - held.get()).isGreaterThan(900_000);
		for (int i = 1; i < 100_000; i++) {
			assertThat(reader.read(record)).isTrue();
			assertThat(record.length(1)).isOne();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "*3\r\n$4\r\nSADD\r\n$1\r\ns\r\n$1\r\n1\r\n", "SADD s 1\r\n", "*30000\r\n$4\r\nSADD\r\n" })
	void spansOfOneKindOfCommandAreReleasedWhileOthersAreRead(String small) throws IOException {
		String words = "*5002\r\n$4\r\nSADD\r\n" + "$1\r\n1\r\n".repeat(5001);
		String inline = "SADD s" + " 1".repeat(5000) + "\r\n";
		assertThat(heldAfter(words, small)).isZero();
		assertThat(heldAfter(inline, small)).isZero();
	}

	/**
	 * The bytes that are still reserved after reading a small command that follows a
	 * large one.
	 */
	private static long heldAfter(String large, String small) throws IOException {
		AtomicLong held = new AtomicLong();
		RecordLimit limit = new RecordLimit(Snapshot.MAX_RECORD_BYTES, 6000, new CountedReservation(held, false));
		Record record = new Record(RecordDefaults.NONE, limit.memory());
		RecordReader reader = RecordFormat.RESP.open(Snapshot.latin1(large + small), null, limit);
		assertThat(reader.read(record)).isTrue();
		assertThat(held).hasPositiveValue();
		assertThat(reader.read(record)).isTrue();
		return held.get();
	}

	private static RecordLimit limit(MemoryReservation memory) {
		return new RecordLimit(Snapshot.MAX_RECORD_BYTES, RecordLimit.DEFAULT_ARGUMENTS, memory);
	}

	/** A reservation that allows large amounts for buffers, but no small amounts. */
	private static final class NoRoom implements MemoryReservation {

		@Override
		public boolean tryReserve(long bytes) {
			return false;
		}

		@Override
		public void reserve(long bytes) {
			if (bytes < 64 << 10) {
				throw new MemoryLimitException(bytes + " bytes");
			}
		}

		@Override
		public void release(long bytes) {
		}

		@Override
		public boolean isScarce() {
			return false;
		}

	}

}
