package io.pipeset.job;

import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Names of jobs that sort by time, and those of one process in the order they were made:
 * <a href="https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-7">UUIDs of version
 * 7</a>, which Java 17 cannot make.
 */
final class JobId {

	/** Milliseconds and twelve bits, which count up within a millisecond. */
	private static final AtomicLong last = new AtomicLong();

	private JobId() {
	}

	static String next() {
		long now = System.currentTimeMillis() << 12;
		long time = last.updateAndGet((before) -> Math.max(before + 1, now));
		// An id has to be unique, not secret, and SecureRandom makes jobs wait for one
		// another.
		long variant = 0x8000_0000_0000_0000L | (ThreadLocalRandom.current().nextLong() >>> 2);
		return new UUID((time >>> 12 << 16) | 0x7000L | (time & 0xfff), variant).toString();
	}

}
