package io.pipeset.tuning;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.LongSupplier;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;

/**
 * The records of a run. Each SET writes a key of its own with an expiry. HSET and LPUSH
 * use the {@link PreparedKeys prepared} hashes and lists round-robin, so that consecutive
 * records never share a key.
 */
final class TuningRecords implements RecordReader {

	private static final byte[] EX = bytes("EX");

	private static final byte[] SECONDS = bytes(String.valueOf(TuningKeys.TTL.toSeconds()));

	private static final byte[] ID = bytes("id");

	private static final byte[] VALUE = bytes("value");

	/**
	 * How many records are read between two checks of the clock, because a check takes
	 * time.
	 */
	private static final int RECORDS_PER_CLOCK_CHECK = 1_000;

	private final Operation operation;

	private final byte[] value;

	private final int records;

	/**
	 * The next key: the prefix, and the digits of a number that is incremented in place.
	 */
	private final byte[] key;

	private final int prefixLength;

	private final LongSupplier clock;

	/** The time of the clock after which no further record is read, in nanoseconds. */
	private final long deadline;

	private int next;

	private boolean timedOut;

	TuningRecords(TuningKeys keys, int valueBytes, int records, LongSupplier clock, long deadline) {
		this.clock = clock;
		this.deadline = deadline;
		this.operation = keys.operation();
		this.value = new byte[valueBytes];
		Arrays.fill(this.value, (byte) 'v');
		this.records = records;
		this.key = keys.key(0);
		this.prefixLength = keys.prefix().length();
	}

	@Override
	public boolean read(Record record) {
		if (this.next == this.records) {
			return false;
		}
		if (this.next > 0) {
			this.timedOut |= this.next % RECORDS_PER_CLOCK_CHECK == 0 && this.deadline - this.clock.getAsLong() <= 0;
			if (this.timedOut) {
				return false;
			}
			// Only now, because the previous record used the same array until this call.
			incrementKey();
		}
		record.begin(0);
		record.operation(this.operation);
		add(record, this.key);
		if (this.operation == Operation.HSET) {
			add(record, ID);
			record.argument(this.key, this.prefixLength, this.key.length - this.prefixLength);
			add(record, VALUE);
		}
		add(record, this.value);
		if (this.operation == Operation.SET) {
			add(record, EX);
			add(record, SECONDS);
		}
		record.check();
		this.next++;
		return true;
	}

	/** Whether the records ended early because the run took too long. */
	boolean isTimedOut() {
		return this.timedOut;
	}

	/** Increments the number in the key; after the last key follows the first. */
	private void incrementKey() {
		int digit = this.key.length - 1;
		while (digit >= this.prefixLength && this.key[digit] == '9') {
			this.key[digit--] = '0';
		}
		if (digit >= this.prefixLength) {
			this.key[digit]++;
		}
	}

	private static void add(Record record, byte[] argument) {
		record.argument(argument, 0, argument.length);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.US_ASCII);
	}

}
