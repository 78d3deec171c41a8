package io.pipeset.keyspace.tuning;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;

/**
 * The keys of a tuning, and the records that use them. Each key has an expiry as soon as
 * it exists, so that a killed service leaves no key for good. A SET carries it. Hashes
 * and lists get it before each run: a {@code ttl} would turn each HSET into a script
 * call.
 */
final class TuningKeys {

	/** The records that prepare a key. They must run in one transaction. */
	static final int PREPARING = 3;

	/** The most hashes or lists of a tuning. */
	private static final int MAX_SHARED = 1_000;

	/** The memory of a key in bytes, with its entry and expiry, without its value. */
	private static final int KEY_OVERHEAD_BYTES = 240;

	/** The memory of a list element in bytes, without its value. */
	private static final int ELEMENT_OVERHEAD_BYTES = 16;

	/** Longer than any tuning takes, so that no key expires during a run. */
	private static final byte[] SECONDS = bytes(String.valueOf(Duration.ofHours(1).toSeconds()));

	private static final byte[] EX = bytes("EX");

	private static final byte[] ID = bytes("id");

	private static final byte[] VALUE = bytes("value");

	private final String prefix;

	private final Operation operation;

	private final int records;

	private final byte[] value;

	TuningKeys(String tuningId, TuningSettings settings) {
		this.prefix = "pipeset:tuning:" + tuningId + ":";
		this.operation = settings.operation();
		this.records = settings.records();
		this.value = bytes("v".repeat(settings.valueBytes()));
	}

	String prefix() {
		return this.prefix;
	}

	int count() {
		return (needPreparation()) ? Math.min(this.records, MAX_SHARED) : this.records;
	}

	/** Whether the keys must exist, with their expiry, before a run. */
	boolean needPreparation() {
		return this.operation != Operation.SET;
	}

	/**
	 * An upper estimate of the memory that Redis needs for a run. Redis allocates values
	 * in size classes, each up to a quarter larger than the one below.
	 */
	long bytes() {
		long perRecord = this.value.length * 5L / 4 + ((needPreparation()) ? ELEMENT_OVERHEAD_BYTES : 0);
		return this.records * perRecord + (long) count() * KEY_OVERHEAD_BYTES;
	}

	/** A record of a run. Consecutive records never share a key. */
	void write(Record record, int number) {
		byte[] key = key(number % count());
		switch (this.operation.name()) {
			case "SET" -> fill(record, this.operation, key, this.value, EX, SECONDS);
			case "HSET" -> fill(record, this.operation, key, ID, bytes(String.valueOf(number)), VALUE, this.value);
			default -> fill(record, this.operation, key, this.value);
		}
	}

	/** A record that empties a hash or list, or makes it anew, or has it expire. */
	void prepare(Record record, int number) {
		byte[] key = key(number / PREPARING);
		switch (number % PREPARING) {
			case 0 -> fill(record, Operation.UNLINK, key);
			case 1 -> fill(record, this.operation,
					(this.operation == Operation.HSET) ? new byte[][] { key, ID, ID } : new byte[][] { key, ID });
			default -> fill(record, Operation.EXPIRE, key, SECONDS);
		}
	}

	void remove(Record record, int number) {
		fill(record, Operation.UNLINK, key(number));
	}

	private byte[] key(int number) {
		return bytes(this.prefix + number);
	}

	private static void fill(Record record, Operation operation, byte[]... arguments) {
		record.begin(0);
		record.operation(operation);
		for (byte[] argument : arguments) {
			record.argument(argument, 0, argument.length);
		}
		record.check();
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.US_ASCII);
	}

}
