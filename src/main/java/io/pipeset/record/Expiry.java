package io.pipeset.record;

/**
 * How long what is written may last. Redis counts milliseconds since 1970 in 64 bits and
 * refuses what ends behind the last of them; this bound ends a few million years before
 * that, so that it holds whatever the time is, and is a number that JSON and Lua have.
 */
public final class Expiry {

	/** The longest time to live, in seconds, and the last time to expire at. */
	public static final long MAX_SECONDS = 9_000_000_000_000_000L;

	static final long MAX_MILLIS = MAX_SECONDS * 1000;

	/** What a time to live may be, for messages. */
	public static final String ALLOWED = "a whole number of seconds from 1 to " + MAX_SECONDS;

	private Expiry() {
	}

	/** Whether bytes are a time to live as a record may have it. */
	static boolean isTtl(byte[] source, int offset, int length) {
		long seconds = Words.number(source, offset, length);
		return seconds >= 1 && seconds <= MAX_SECONDS;
	}

}
