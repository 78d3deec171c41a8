package io.pipeset.tune;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

import io.pipeset.pipeline.RedisCallException;
import io.pipeset.pipeline.RedisCalls;
import io.pipeset.record.Operation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of a tuning. Each of them expires from its first moment on, so that a service
 * that is killed leaves none for good.
 */
final class TuningKeys {

	/** Longer than any tuning takes, so that no key expires while it is measured. */
	static final Duration TTL = Duration.ofHours(1);

	/** The hashes or lists of a tuning, if it has that many records. */
	private static final int SHARED = 1_000;

	private static final int REMOVED_AT_ONCE = 500;

	private static final Duration MOST_FOR_REMOVAL = Duration.ofSeconds(10);

	private static final Logger logger = LoggerFactory.getLogger(TuningKeys.class);

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

	/** A key as a new array. */
	byte[] key(int number) {
		String text = String.valueOf(number);
		return (this.prefix + "0".repeat(this.digits - text.length()) + text).getBytes(StandardCharsets.US_ASCII);
	}

	/**
	 * Removes all keys. It goes on after the tuning was stopped, but not for long, and
	 * not against a Redis that does not answer.
	 * @param calls sends single commands
	 * @param clock nanoseconds
	 * @return how many keys may be left
	 */
	long remove(RedisCalls calls, LongSupplier clock) {
		long end = clock.getAsLong() + MOST_FOR_REMOVAL.toNanos();
		long removed = 0;
		try {
			while (removed < this.count && end - clock.getAsLong() > 0) {
				List<byte[]> keys = new ArrayList<>();
				for (long i = removed; i < Math.min(this.count, removed + REMOVED_AT_ONCE); i++) {
					keys.add(key((int) i));
				}
				calls.unlink(keys);
				removed += keys.size();
			}
		}
		catch (RedisCallException ex) {
			logger.warn("Keys {}* could not be removed, and expire by themselves within an hour: {}", this.prefix,
					ex.getMessage());
		}
		return this.count - removed;
	}

}
