package io.pipeset.record;

import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/**
 * The bounds of a time to live. Redis counts milliseconds since 1970 in 64 bits, and
 * refuses a time beyond the last of them. This bound ends a few million years earlier, so
 * that it holds whatever the time is now, and JSON and Lua can write the number.
 */
public final class Expiry {

	/** The longest time to live, in seconds, and the last time to expire at. */
	public static final long MAX_SECONDS = 9_000_000_000_000_000L;

	static final long MAX_MILLIS = MAX_SECONDS * 1000;

	/** The times to live that are allowed, for messages. */
	public static final String ALLOWED = "a whole number of seconds from 1 to " + MAX_SECONDS
			+ ", or a duration of whole seconds such as 90s, 1h, 7d or PT1H";

	private static final long NONE = -1;

	private Expiry() {
	}

	/**
	 * Whether bytes are a time to live as a record may have it.
	 * @return {@code true} for 1 to {@link #MAX_SECONDS} seconds, as a number or as a
	 * duration
	 */
	public static boolean isTtl(byte[] source, int offset, int length) {
		return seconds(source, offset, length) != NONE;
	}

	/**
	 * Reads a time to live.
	 * @param text a whole number of seconds, or a duration
	 * @return 1 to {@link #MAX_SECONDS} seconds, or {@code null} if it is none
	 */
	public static @Nullable Long parse(String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		long seconds = seconds(bytes, 0, bytes.length);
		return (seconds != NONE) ? Long.valueOf(seconds) : null;
	}

	/** A time to live in seconds, 1 to {@link #MAX_SECONDS}, or -1 if it is none. */
	static long seconds(byte[] source, int offset, int length) {
		long seconds = Arguments.number(source, offset, length);
		if (seconds < 0) {
			long millis = Durations.millis(source, offset, length);
			seconds = (millis % 1000 == 0) ? millis / 1000 : NONE;
		}
		return (seconds >= 1 && seconds <= MAX_SECONDS) ? seconds : NONE;
	}

}
