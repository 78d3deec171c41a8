package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.SplittableRandom;

import org.jspecify.annotations.Nullable;

/**
 * A record's expiry: after a time to live, or at a timestamp. If the job has a jitter,
 * each expiry is changed at random when it is added to a command. A command that is
 * resent keeps its expiry.
 */
final class Ttl {

	private static final byte[] EX = "EX".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] EXAT = "EXAT".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] PXAT = "PXAT".getBytes(StandardCharsets.US_ASCII);

	private final long defaultTime;

	private final boolean timestampIsDefault;

	private final @Nullable ZoneId zone;

	/** The largest random change of an expiry, in percent. */
	private final int jitter;

	private final @Nullable SplittableRandom random;

	/**
	 * The time to live in seconds, or the timestamp in milliseconds since 1970; 0 for no
	 * expiry.
	 */
	private long time;

	private boolean timestamp;

	/** The time in decimal, right-aligned. */
	private final byte[] digits = new byte[19];

	/**
	 * Creates the default expiry of a job's records.
	 * @param random the source of the jitter; {@code null} for none
	 */
	Ttl(RecordDefaults defaults, @Nullable SplittableRandom random) {
		Long timestamp = defaults.expireAt();
		Long ttl = (timestamp != null) ? timestamp : defaults.ttl();
		this.defaultTime = (ttl != null) ? ttl : 0;
		this.timestampIsDefault = timestamp != null;
		this.zone = defaults.zone();
		this.jitter = defaults.ttlJitter();
		this.random = random;
	}

	/** Resets to the job's default. */
	void reset() {
		this.time = this.defaultTime;
		this.timestamp = this.timestampIsDefault;
	}

	/** The zone of timestamps without one; {@code null} if they are refused. */
	@Nullable ZoneId zone() {
		return this.zone;
	}

	/**
	 * Sets the time to live, or none.
	 * @return {@code false} if the bytes are not valid; then nothing changes
	 */
	boolean set(byte[] source, int offset, int length) {
		return set(Expiry.seconds(source, offset, length), false);
	}

	/**
	 * Sets the timestamp.
	 * @return {@code false} if the bytes are not valid; then nothing changes
	 */
	boolean setTimestamp(byte[] source, int offset, int length) {
		return set(Timestamps.expiry(source, offset, length, this.zone), true);
	}

	private boolean set(long time, boolean timestamp) {
		if (time < 0) {
			return false;
		}
		this.time = time;
		this.timestamp = timestamp;
		return true;
	}

	/** Adds the expiry option to a SET without such an option. */
	void expireByOption(Record record) {
		if (this.time > 0) {
			check(record);
			applyJitter();
			boolean seconds = this.timestamp && this.time % 1000 == 0;
			byte[] option = (!this.timestamp) ? EX : (seconds) ? EXAT : PXAT;
			record.argument(option, 0, option.length);
			int from = write((seconds) ? this.time / 1000 : this.time);
			record.argument(this.digits, from, this.digits.length - from);
		}
	}

	/** Sets the expiry of a hash by a script, because HSET has no option for it. */
	void expireByScript(Record record) {
		if (this.time > 0) {
			check(record);
			applyJitter();
			record.runAsScript((this.timestamp) ? Script.HSET_EXPIRING_AT : Script.HSET_WITH_TTL);
			int from = write(this.time);
			record.arguments().insert(3, this.digits, from, this.digits.length - from);
		}
	}

	/** Adds the time as an argument of a record that only sets an expiry. */
	void addTo(Record record) {
		applyJitter();
		int from = write(this.time);
		record.argument(this.digits, from, this.digits.length - from);
	}

	/** Warns of a timestamp that has passed. */
	private void check(Record record) {
		if (this.timestamp) {
			Expiry.warn(record, this.time, true, true);
		}
	}

	private void applyJitter() {
		if (this.random == null) {
			return;
		}
		if (!this.timestamp) {
			this.time = withJitter(this.time, this.jitter, this.random);
			return;
		}
		long left = (this.time - System.currentTimeMillis()) / 1000;
		if (left > 0) {
			this.time += (withJitter(left, this.jitter, this.random) - left) * 1000;
		}
	}

	/**
	 * Writes a number of 1 or more into {@code digits}, and returns the index of its
	 * first digit.
	 */
	private int write(long number) {
		int at = this.digits.length;
		for (long left = number; left > 0; left /= 10) {
			this.digits[--at] = (byte) ('0' + left % 10);
		}
		return at;
	}

	/**
	 * Changes a time to live at random, by at most a percentage of it. The result is at
	 * most {@link Expiry#MAX_SECONDS}.
	 */
	static long withJitter(long seconds, int percent, SplittableRandom random) {
		long most = seconds * percent / 100;
		return Math.min(seconds - most + random.nextLong(2 * most + 1), Expiry.MAX_SECONDS);
	}

}
