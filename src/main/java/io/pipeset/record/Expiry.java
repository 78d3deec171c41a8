package io.pipeset.record;

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
	public static final String ALLOWED = "a whole number of seconds from 1 to " + MAX_SECONDS;

	private Expiry() {
	}

	/**
	 * Whether bytes are a time to live as a record may have it.
	 * @param source the array that holds its digits
	 * @param offset the first digit
	 * @param length the number of digits
	 * @return {@code true} for a whole number of seconds from 1 to {@link #MAX_SECONDS}
	 */
	public static boolean isTtl(byte[] source, int offset, int length) {
		long seconds = Arguments.number(source, offset, length);
		return seconds >= 1 && seconds <= MAX_SECONDS;
	}

}
