package io.pipeset.record;

import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/**
 * The bounds of expiries. Redis counts milliseconds since 1970 in 64 bits, and refuses a
 * time beyond the last of them. The bound of commands ends a few million years earlier,
 * so that it holds whatever the time is now, and JSON and Lua can write the number. A
 * time to live has a bound of its own, as a larger number is a moment in all likelihood.
 */
public final class Expiry {

	/** The longest time that a command may have, in seconds, and the last moment. */
	public static final long MAX_SECONDS = 9_000_000_000_000_000L;

	/** The longest time to live of a setting or a record, in seconds. */
	public static final long MAX_TTL = 999_999_999;

	static final long MAX_MILLIS = MAX_SECONDS * 1000;

	/** The times to live that are allowed, for messages. */
	public static final String ALLOWED = "a whole number of seconds from 1 to " + MAX_TTL
			+ ", or a duration of whole seconds such as 90s, 1h, 7d or PT1H (a moment is for expireAt)";

	private static final long NONE = -1;

	private Expiry() {
	}

	/**
	 * Whether bytes are a time to live as a record may have it.
	 * @return {@code true} for 1 to {@link #MAX_TTL} seconds, as a number or as a
	 * duration
	 */
	public static boolean isTtl(byte[] source, int offset, int length) {
		return seconds(source, offset, length) != NONE;
	}

	/**
	 * Reads a time to live.
	 * @param text a whole number of seconds, or a duration
	 * @return 1 to {@link #MAX_TTL} seconds, or {@code null} if it is none
	 */
	public static @Nullable Long parse(String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		long seconds = seconds(bytes, 0, bytes.length);
		return (seconds != NONE) ? Long.valueOf(seconds) : null;
	}

	/** A time to live in seconds, 1 to {@link #MAX_TTL}, or -1 if it is none. */
	static long seconds(byte[] source, int offset, int length) {
		long seconds = Arguments.number(source, offset, length);
		if (seconds < 0) {
			long millis = Durations.millis(source, offset, length);
			seconds = (millis % 1000 == 0) ? millis / 1000 : NONE;
		}
		return (seconds >= 1 && seconds <= MAX_TTL) ? seconds : NONE;
	}

}
