package io.pipeset.tuning;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.pipeset.record.Operation;

/**
 * The keys of a tuning. Each key has an expiry as soon as it exists, so that a killed
 * service leaves no key for good.
 */
final class TuningKeys {

	/** Longer than any tuning takes, so that no key expires during a run. */
	static final Duration TTL = Duration.ofHours(1);

	/** The most hashes or lists of a tuning. */
	private static final int MAX_SHARED_KEYS = 1_000;

	/** The memory of a key in bytes, with its entry and expiry, without its value. */
	private static final int KEY_OVERHEAD_BYTES = 240;

	/** The memory of a list element in bytes, without its value. */
	private static final int ELEMENT_OVERHEAD_BYTES = 16;

	private final Operation operation;

	private final String prefix;

	private final int count;

	private final int digits;

	TuningKeys(String tuningId, Operation operation, int records) {
		this.operation = operation;
		this.prefix = "pipeset:tuning:" + tuningId + ":";
		this.count = (operation == Operation.SET) ? records : Math.min(records, MAX_SHARED_KEYS);
		// Three digits count through the shared keys and wrap around.
		this.digits = (operation == Operation.SET) ? 7 : 3;
	}

	Operation operation() {
		return this.operation;
	}

	String prefix() {
		return this.prefix;
	}

	int count() {
		return this.count;
	}

	/** Whether the keys must exist, with their expiry, before a run. */
	boolean needPreparation() {
		return this.operation != Operation.SET;
	}

	/**
	 * An upper estimate of the memory that Redis needs for a run. Redis allocates values
	 * in size classes, each up to a quarter larger than the one below.
	 */
	long bytes(int records, int valueBytes) {
		long elements = (this.operation == Operation.LPUSH) ? (long) records * ELEMENT_OVERHEAD_BYTES : 0;
		return (long) records * valueBytes * 5 / 4 + (long) this.count * KEY_OVERHEAD_BYTES + elements;
	}

	/** Returns a key as a new array. */
	byte[] key(int number) {
		String text = String.valueOf(number);
		return (this.prefix + "0".repeat(this.digits - text.length()) + text).getBytes(StandardCharsets.US_ASCII);
	}

}
