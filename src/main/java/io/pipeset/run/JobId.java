package io.pipeset.run;

import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Creates ids of jobs, which are
 * <a href="https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-7">UUIDs of version
 * 7</a>. They sort by time of creation, and within one process in the exact order. Java
 * 17 cannot create them.
 */
public final class JobId {

	/** Milliseconds since 1970, then twelve bits that count within a millisecond. */
	private static final AtomicLong last = new AtomicLong();

	/** Makes ids hard to guess: the id of a reliable pop is enough to acknowledge it. */
	private static final SecureRandom random = new SecureRandom();

	private JobId() {
	}

	/**
	 * Creates an id.
	 * @return a new, unique id
	 */
	public static String next() {
		long now = System.currentTimeMillis() << 12;
		long time = last.updateAndGet((before) -> Math.max(before + 1, now));
		long variant = 0x8000_0000_0000_0000L | (random.nextLong() >>> 2);
		return new UUID((time >>> 12 << 16) | 0x7000L | (time & 0xfff), variant).toString();
	}

}
