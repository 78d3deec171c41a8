package io.pipeset.record;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/**
 * The bounds of expiries. Redis counts milliseconds since 1970 in 64 bits, and refuses a
 * later time. The bound for commands is a few million years lower, so that a time to live
 * plus the current time is not too large for Redis. JSON and Lua can also represent it
 * exactly. A time to live has a smaller maximum, because a larger number is most likely a
 * Unix time.
 */
public final class Expiry {

	/**
	 * The largest time in a command, in seconds: a time to live, or seconds since 1970.
	 */
	public static final long MAX_SECONDS = 9_000_000_000_000_000L;

	/** The largest time to live in a setting or a record, in seconds. */
	public static final long MAX_TTL = 999_999_999;

	private static final long SECOND = 1000;

	static final long MAX_MILLIS = MAX_SECONDS * 1000;

	/** Describes the allowed times to live, for messages. */
	public static final String ALLOWED = "a whole number of seconds from 1 to " + MAX_TTL
			+ ", or a duration of whole seconds such as 90s, 1h, 7d or PT1H (for a timestamp, use expireAt)";

	/** The result for a text that is not a time to live. */
	static final long NONE = -1;

	/** The result for -1, Redis's own word for no expiry. */
	static final long NEVER = 0;

	private Expiry() {
	}

	/**
	 * Reads a time to live of a setting.
	 * @param text an integer number of seconds, or a duration
	 * @return 1 to {@link #MAX_TTL} seconds, or {@code null} if the text is not a time to
	 * live
	 */
	public static @Nullable Long parse(String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		long seconds = seconds(bytes, 0, bytes.length);
		return (seconds > NEVER) ? Long.valueOf(seconds) : null;
	}

	/**
	 * A time to live of a record in seconds: 1 to {@link #MAX_TTL}, {@link #NEVER}, or
	 * {@link #NONE} if the bytes are not one.
	 */
	static long seconds(byte[] source, int offset, int length) {
		long seconds = Arguments.number(source, offset, length);
		if (seconds < 0) {
			long millis = Durations.millis(source, offset, length);
			seconds = (millis < 0) ? ofDecimal(source, offset, length)
					: (millis > 0 && millis % 1000 == 0) ? millis / 1000 : NONE;
		}
		else if (seconds == NEVER) {
			return NONE;
		}
		return (seconds >= NEVER && seconds <= MAX_TTL) ? seconds : NONE;
	}

	/**
	 * Notes a warning if a time of a command can hardly be meant.
	 * @param timestamp whether it is a time since 1970, and not one from now on
	 */
	static void warn(Record record, long time, boolean millis, boolean timestamp) {
		long now = (timestamp) ? 0 : System.currentTimeMillis();
		long most = (Timestamps.LAST - now) / ((millis) ? 1 : SECOND);
		if (time > most) {
			record.warn(RecordWarning.FAR_EXPIRY);
		}
		else if ((timestamp) ? time <= System.currentTimeMillis() / ((millis) ? 1 : SECOND) : time <= 0) {
			record.warn(RecordWarning.EXPIRED_AT_ONCE);
		}
	}

	/** A whole number as programs write floats: {@code 3600.0}, {@code 3.6E3}. */
	private static long ofDecimal(byte[] source, int offset, int length) {
		BigDecimal number = Timestamps.decimal(source, offset, length);
		if (number == null || number.abs().compareTo(BigDecimal.valueOf(MAX_TTL)) > 0
				|| number.stripTrailingZeros().scale() > 0) {
			return NONE;
		}
		long seconds = number.longValueExact();
		return (seconds == -1) ? NEVER : (seconds >= 1) ? seconds : NONE;
	}

}
