package io.pipeset.tuning;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.pipeset.record.Operation;

/**
 * The keys of a tuning. Each of them expires from its first moment on, so that a service
 * that is killed leaves none for good.
 */
final class TuningKeys {

	/** Longer than any tuning takes, so that no key expires while it is measured. */
	static final Duration TTL = Duration.ofHours(1);

	/** The hashes or lists of a tuning, if it has that many records. */
	private static final int SHARED = 1_000;

	/** The memory that a key takes beside its value, with its entry and its expiry. */
	private static final int BYTES_OF_A_KEY = 240;

	/** The memory that an element of a list takes beside its value. */
	private static final int BYTES_OF_AN_ELEMENT = 16;

	private final Operation operation;

	private final String prefix;

	private final int count;

	private final int digits;

	TuningKeys(String tuningId, Operation operation, int records) {
		this.operation = operation;
		this.prefix = "pipeset:tuning:" + tuningId + ":";
		this.count = (operation == Operation.SET) ? records : Math.min(records, SHARED);
		// The digits of the shared keys run through all of them, and then begin anew.
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

	/** Whether the keys have to be there, with their expiry, before a run. */
	boolean arePrepared() {
		return this.operation != Operation.SET;
	}

	/**
	 * A safe guess at the memory that Redis takes for a run. It has room for values only
	 * in steps, of which each is up to a quarter larger than the one before.
	 */
	long bytes(int records, int valueBytes) {
		long elements = (this.operation == Operation.LPUSH) ? (long) records * BYTES_OF_AN_ELEMENT : 0;
		return (long) records * valueBytes * 5 / 4 + (long) this.count * BYTES_OF_A_KEY + elements;
	}

	/** A key as a new array. */
	byte[] key(int number) {
		String text = String.valueOf(number);
		return (this.prefix + "0".repeat(this.digits - text.length()) + text).getBytes(StandardCharsets.US_ASCII);
	}

}
