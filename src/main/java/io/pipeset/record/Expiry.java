package io.pipeset.record;

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

	static final long MAX_MILLIS = MAX_SECONDS * 1000;

	/** Describes the allowed times to live, for messages. */
	public static final String ALLOWED = "a whole number of seconds from 1 to " + MAX_TTL
			+ ", or a duration of whole seconds such as 90s, 1h, 7d or PT1H (for a point in time, use expireAt)";

	private static final long NONE = -1;

	private Expiry() {
	}

	/**
	 * Whether bytes are a time to live.
	 * @return {@code true} for 1 to {@link #MAX_TTL} seconds, as a number or as a
	 * duration
	 */
	public static boolean isTtl(byte[] source, int offset, int length) {
		return seconds(source, offset, length) != NONE;
	}

	/**
	 * Reads a time to live.
	 * @param text an integer number of seconds, or a duration
	 * @return 1 to {@link #MAX_TTL} seconds, or {@code null} if the text is not a time to
	 * live
	 */
	public static @Nullable Long parse(String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		long seconds = seconds(bytes, 0, bytes.length);
		return (seconds != NONE) ? Long.valueOf(seconds) : null;
	}

	/** A time to live in seconds, 1 to {@link #MAX_TTL}; -1 if the bytes are not one. */
	static long seconds(byte[] source, int offset, int length) {
		long seconds = Arguments.number(source, offset, length);
		if (seconds < 0) {
			long millis = Durations.millis(source, offset, length);
			seconds = (millis % 1000 == 0) ? millis / 1000 : NONE;
		}
		return (seconds >= 1 && seconds <= MAX_TTL) ? seconds : NONE;
	}

}
