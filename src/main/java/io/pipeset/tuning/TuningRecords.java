package io.pipeset.tuning;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.LongSupplier;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;

/**
 * The records of a run. SETs write a key each, which expires by itself; HSETs and LPUSHes
 * go to the {@link TuningKeys prepared} hashes and lists in turn, so that neighbours
 * never have a key in common.
 */
final class TuningRecords implements RecordReader {

	private static final byte[] EX = bytes("EX");

	private static final byte[] SECONDS = bytes(String.valueOf(TuningKeys.TTL.toSeconds()));

	private static final byte[] ID = bytes("id");

	private static final byte[] VALUE = bytes("value");

	/** Between looks at the clock, which take time as well. */
	private static final int RECORDS_OF_A_LOOK = 1_000;

	private final Operation operation;

	private final byte[] value;

	private final int records;

	/** The next key: the prefix, and a number whose digits are counted on. */
	private final byte[] key;

	private final int prefixLength;

	private final LongSupplier clock;

	/** The time of the clock after which no further record comes. */
	private final long end;

	private int next;

	private boolean late;

	TuningRecords(TuningKeys keys, int valueBytes, int records, LongSupplier clock, long end) {
		this.clock = clock;
		this.end = end;
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
			this.late |= this.next % RECORDS_OF_A_LOOK == 0 && this.end - this.clock.getAsLong() <= 0;
			if (this.late) {
				return false;
			}
			// Not before: until now the record before has pointed to these digits.
			countOn();
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

	/** Whether the run was broken off, as it took too long. */
	boolean isBrokenOff() {
		return this.late;
	}

	/** Adds one to the number; behind the last key comes the first. */
	private void countOn() {
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
