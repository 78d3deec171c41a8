package io.pipeset.record;

import java.nio.charset.StandardCharsets;

/**
 * Records made from a count, with numbers of at least five digits. The shortcuts run them
 * if nothing is uploaded.
 */
public final class GeneratedRecords implements RecordReader {

	private static final int MIN_DIGITS = 5;

	private static final byte[] ID = "id".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] VALUE = "value".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] LEFT = "LEFT".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] RIGHT = "RIGHT".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] VALUE_PREFIX = "value-".getBytes(StandardCharsets.US_ASCII);

	private final long count;

	private final Shape shape;

	private final byte[] scratch = new byte[128];

	/** The next number as digits. */
	private final byte[] counter = "0".repeat(19).getBytes(StandardCharsets.US_ASCII);

	private int digits = 1;

	private long next;

	private GeneratedRecords(long count, Shape shape) {
		this.count = count;
		this.shape = shape;
	}

	/** {@code SET keyA00000 value-00000} and so on. */
	public static GeneratedRecords sets(long count) {
		byte[] prefix = "keyA".getBytes(StandardCharsets.US_ASCII);
		return new GeneratedRecords(count, (records, record) -> {
			record.operation(Operation.SET);
			int key = records.numbered(record, prefix, 0);
			records.numbered(record, VALUE_PREFIX, key);
		});
	}

	/** {@code HSET hashA00000 id 0 value value-00000} and so on. */
	public static GeneratedRecords hashes(long count) {
		byte[] prefix = "hashA".getBytes(StandardCharsets.US_ASCII);
		return new GeneratedRecords(count, (records, record) -> {
			record.operation(Operation.HSET);
			int key = records.numbered(record, prefix, 0);
			record.argument(ID, 0, ID.length);
			int id = records.number(key, 1);
			record.argument(records.scratch, key, id - key);
			record.argument(VALUE, 0, VALUE.length);
			records.numbered(record, VALUE_PREFIX, id);
		});
	}

	/** {@code LPUSH key value-00000} and so on. */
	public static GeneratedRecords pushes(String key, long count) {
		byte[] list = key.getBytes(StandardCharsets.UTF_8);
		return new GeneratedRecords(count, (records, record) -> {
			record.operation(Operation.LPUSH);
			record.argument(list, 0, list.length);
			records.numbered(record, VALUE_PREFIX, 0);
		});
	}

	/** {@code RPOP key}, again and again. */
	public static GeneratedRecords pops(String key, long count) {
		byte[] list = key.getBytes(StandardCharsets.UTF_8);
		return new GeneratedRecords(count, (records, record) -> {
			record.operation(Operation.RPOP);
			record.argument(list, 0, list.length);
		});
	}

	/**
	 * {@code RPOP key}, again and again. Each one keeps its value in Redis, by moving it
	 * to the left end of another list.
	 */
	public static GeneratedRecords moves(String key, byte[] target, long count) {
		byte[] list = key.getBytes(StandardCharsets.UTF_8);
		return new GeneratedRecords(count, (records, record) -> {
			record.operation(Operation.RPOP);
			record.effect(Effect.MOVE);
			record.argument(list, 0, list.length);
			record.argument(target, 0, target.length);
			record.argument(RIGHT, 0, RIGHT.length);
			record.argument(LEFT, 0, LEFT.length);
		});
	}

	@Override
	public boolean read(Record record) {
		if (this.next == this.count) {
			return false;
		}
		record.begin(0);
		this.shape.fill(this, record);
		if (record.effect() != Effect.MOVE) {
			// A move is no command of the table, which callers write to.
			record.check();
		}
		this.next++;
		countOn();
		return true;
	}

	private int numbered(Record record, byte[] prefix, int at) {
		System.arraycopy(prefix, 0, this.scratch, at, prefix.length);
		int end = number(at + prefix.length, MIN_DIGITS);
		record.argument(this.scratch, at, end - at);
		return end;
	}

	private int number(int at, int least) {
		int length = Math.max(this.digits, least);
		System.arraycopy(this.counter, this.counter.length - length, this.scratch, at, length);
		return at + length;
	}

	/** Adds one in decimal: cheaper than dividing, for a million numbers. */
	private void countOn() {
		int digit = this.counter.length - 1;
		while (this.counter[digit] == '9') {
			this.counter[digit--] = '0';
		}
		this.counter[digit]++;
		this.digits = Math.max(this.digits, this.counter.length - digit);
	}

	/** Fills in the record of the next number. */
	private interface Shape {

		void fill(GeneratedRecords records, Record record);

	}

}
