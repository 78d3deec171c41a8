package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

import org.jspecify.annotations.Nullable;

/**
 * A record's expiry: after a time to live, or at a moment. If the job spreads expiries,
 * each is moved when it is added to a command. A command that is sent again keeps its
 * expiry.
 */
final class Ttl {

	private static final byte[] EX = "EX".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] EXAT = "EXAT".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] PXAT = "PXAT".getBytes(StandardCharsets.US_ASCII);

	private final long byDefault;

	private final boolean momentByDefault;

	/** The share by which an expiry may be moved, in percent. */
	private final int jitter;

	private final @Nullable SplittableRandom random;

	/**
	 * The seconds to live, or of a moment the milliseconds since 1970; 0 for no expiry.
	 */
	private long time;

	private boolean moment;

	/** The time in decimal, at the end. */
	private final byte[] digits = new byte[19];

	/**
	 * No expiry, but for the one of records that have none of their own.
	 * @param random moves the expiries; {@code null} to leave them as they are
	 */
	Ttl(RecordDefaults defaults, @Nullable SplittableRandom random) {
		Long moment = defaults.expireAt();
		Long ttl = (moment != null) ? moment : defaults.ttl();
		this.byDefault = (ttl != null) ? ttl : 0;
		this.momentByDefault = moment != null;
		this.jitter = defaults.ttlJitter();
		this.random = random;
	}

	/** Forgets the last record's. */
	void reset() {
		this.time = this.byDefault;
		this.moment = this.momentByDefault;
	}

	/**
	 * Sets the time to live.
	 * @return {@code false} if the bytes are none
	 */
	boolean set(byte[] source, int offset, int length) {
		return set(Expiry.seconds(source, offset, length), false);
	}

	/**
	 * Sets the moment.
	 * @return {@code false} if the bytes are none
	 */
	boolean setMoment(byte[] source, int offset, int length) {
		return set(Timestamps.millis(source, offset, length), true);
	}

	private boolean set(long time, boolean moment) {
		if (time < 0) {
			return false;
		}
		this.time = time;
		this.moment = moment;
		return true;
	}

	/** Lets a SET expire whose own options say nothing of it. */
	void expireByOption(Record record) {
		if (this.time > 0) {
			move();
			boolean seconds = this.moment && this.time % 1000 == 0;
			byte[] option = (!this.moment) ? EX : (seconds) ? EXAT : PXAT;
			record.argument(option, 0, option.length);
			int from = write((seconds) ? this.time / 1000 : this.time);
			record.argument(this.digits, from, this.digits.length - from);
		}
	}

	/** Lets a hash expire: by a script, as HSET has no option for it. */
	void expireByScript(Record record) {
		if (this.time > 0) {
			move();
			record.byScript((this.moment) ? Script.HSET_EXPIRING_AT : Script.HSET_WITH_TTL);
			int from = write(this.time);
			record.arguments().insert(3, this.digits, from, this.digits.length - from);
		}
	}

	/** Adds the seconds to the arguments of a record that is nothing but an expiry. */
	void addTo(Record record) {
		move();
		int from = write(this.time);
		record.argument(this.digits, from, this.digits.length - from);
	}

	private void move() {
		if (this.random == null) {
			return;
		}
		if (!this.moment) {
			this.time = moved(this.time, this.jitter, this.random);
			return;
		}
		long left = (this.time - System.currentTimeMillis()) / 1000;
		if (left > 0) {
			this.time += (moved(left, this.jitter, this.random) - left) * 1000;
		}
	}

	/** Writes a number of 1 or more, and returns where its digits begin. */
	private int write(long number) {
		int at = this.digits.length;
		for (long left = number; left > 0; left /= 10) {
			this.digits[--at] = (byte) ('0' + left % 10);
		}
		return at;
	}

	/**
	 * Moves a time to live to any of the seconds that are no further away than a share of
	 * it. It stays within the bounds of all.
	 */
	static long moved(long seconds, int percent, SplittableRandom random) {
		long most = seconds * percent / 100;
		return Math.min(seconds - most + random.nextLong(2 * most + 1), Expiry.MAX_SECONDS);
	}

}
