package io.pipeset.record;

import java.nio.charset.StandardCharsets;

/**
 * Generates a given number of records, with numbers of at least five digits in keys and
 * values. The shortcut endpoints run these records if nothing is uploaded.
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

	/** The next number in decimal, with leading zeros. */
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
			int key = records.addNumbered(record, prefix, 0);
			records.addNumbered(record, VALUE_PREFIX, key);
		});
	}

	/** {@code HSET hashA00000 id 0 value value-00000} and so on. */
	public static GeneratedRecords hashes(long count) {
		byte[] prefix = "hashA".getBytes(StandardCharsets.US_ASCII);
		return new GeneratedRecords(count, (records, record) -> {
			record.operation(Operation.HSET);
			int key = records.addNumbered(record, prefix, 0);
			record.argument(ID, 0, ID.length);
			int id = records.writeNumber(key, 1);
			record.argument(records.scratch, key, id - key);
			record.argument(VALUE, 0, VALUE.length);
			records.addNumbered(record, VALUE_PREFIX, id);
		});
	}

	/** {@code LPUSH key value-00000} and so on. */
	public static GeneratedRecords pushes(String key, long count) {
		byte[] list = key.getBytes(StandardCharsets.UTF_8);
		return new GeneratedRecords(count, (records, record) -> {
			record.operation(Operation.LPUSH);
			record.argument(list, 0, list.length);
			records.addNumbered(record, VALUE_PREFIX, 0);
		});
	}

	/** {@code RPOP key}, repeated. */
	public static GeneratedRecords pops(String key, long count) {
		byte[] list = key.getBytes(StandardCharsets.UTF_8);
		return new GeneratedRecords(count, (records, record) -> {
			record.operation(Operation.RPOP);
			record.argument(list, 0, list.length);
		});
	}

	/**
	 * {@code RPOP key}, repeated. Each record keeps its value in Redis: it moves the
	 * value to the left end of another list.
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
			// The table of operations describes no move: nothing to check.
			record.check();
		}
		this.next++;
		incrementCounter();
		return true;
	}

	private int addNumbered(Record record, byte[] prefix, int at) {
		System.arraycopy(prefix, 0, this.scratch, at, prefix.length);
		int end = writeNumber(at + prefix.length, MIN_DIGITS);
		record.argument(this.scratch, at, end - at);
		return end;
	}

	private int writeNumber(int at, int least) {
		int length = Math.max(this.digits, least);
		System.arraycopy(this.counter, this.counter.length - length, this.scratch, at, length);
		return at + length;
	}

	/**
	 * Adds one to the decimal digits. For a million numbers this is cheaper than
	 * dividing.
	 */
	private void incrementCounter() {
		int digit = this.counter.length - 1;
		while (this.counter[digit] == '9') {
			this.counter[digit--] = '0';
		}
		this.counter[digit]++;
		this.digits = Math.max(this.digits, this.counter.length - digit);
	}

	/** Fills in the record for the next number. */
	private interface Shape {

		void fill(GeneratedRecords records, Record record);

	}

}
