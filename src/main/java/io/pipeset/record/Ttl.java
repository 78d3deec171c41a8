package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

import org.jspecify.annotations.Nullable;

/**
 * A record's time to live. If the job spreads times to live, each is moved when it is
 * added to a command. A command that is sent again keeps its time to live.
 */
final class Ttl {

	private static final byte[] EX = { 'E', 'X' };

	private static final byte[] NONE = {};

	private final long byDefault;

	private final byte[] defaultDigits;

	/** The share by which a time to live may be moved, in percent. */
	private final int jitter;

	private final @Nullable SplittableRandom random;

	/** The seconds; 0 for none. */
	private long seconds;

	/** The same in decimal, from an offset on; no digits if they are still to be made. */
	private byte[] digits = NONE;

	private int offset;

	private int length;

	/** The digits that stand in no record. */
	private final byte[] made = new byte[19];

	/**
	 * No time to live, but for the one of records that have none of their own.
	 * @param random moves the times to live; {@code null} to leave them as they are
	 */
	Ttl(RecordDefaults defaults, @Nullable SplittableRandom random) {
		Long ttl = defaults.ttl();
		this.byDefault = (ttl != null) ? ttl : 0;
		this.defaultDigits = (ttl != null) ? ttl.toString().getBytes(StandardCharsets.US_ASCII) : NONE;
		this.jitter = defaults.ttlJitter();
		this.random = random;
	}

	/** Forgets the last record's. */
	void reset() {
		this.seconds = this.byDefault;
		this.digits = this.defaultDigits;
		this.offset = 0;
		this.length = this.defaultDigits.length;
	}

	/**
	 * Sets the time to live.
	 * @return {@code false} if the bytes are none
	 */
	boolean set(byte[] source, int offset, int length) {
		long seconds = Expiry.seconds(source, offset, length);
		if (seconds < 0) {
			return false;
		}
		this.seconds = seconds;
		boolean number = source[offset + length - 1] <= '9';
		this.digits = source;
		this.offset = offset;
		this.length = (number) ? length : 0;
		return true;
	}

	/** Lets a SET expire whose own options say nothing of it. */
	void expireByOption(Record record) {
		if (this.seconds > 0) {
			write();
			record.argument(EX, 0, EX.length);
			record.argument(this.digits, this.offset, this.length);
		}
	}

	/** Lets a hash expire: by a script, as HSET has no option for it. */
	void expireByScript(Record record) {
		if (this.seconds > 0) {
			write();
			record.byScript(Script.HSET_WITH_TTL);
			record.arguments().insert(3, this.digits, this.offset, this.length);
		}
	}

	/** Adds the seconds to the arguments of a record that is nothing but an expiry. */
	void addTo(Record record) {
		write();
		record.argument(this.digits, this.offset, this.length);
	}

	/** Makes the digits that are sent, unless the record's own can be. */
	private void write() {
		if (this.random != null) {
			this.seconds = moved(this.seconds, this.jitter, this.random);
			this.length = 0;
		}
		if (this.length == 0) {
			int at = this.made.length;
			for (long left = this.seconds; left > 0; left /= 10) {
				this.made[--at] = (byte) ('0' + left % 10);
			}
			this.digits = this.made;
			this.offset = at;
			this.length = this.made.length - at;
		}
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
