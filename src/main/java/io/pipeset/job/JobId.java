package io.pipeset.job;

import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Names of jobs that sort by time:
 * <a href="https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-7">UUIDs of version
 * 7</a>, which Java 17 cannot make.
 */
final class JobId {

	private JobId() {
	}

	static String next() {
		// An id has to be unique, not secret, and SecureRandom makes jobs wait for one
		// another.
		ThreadLocalRandom random = ThreadLocalRandom.current();
		long version = 0x7000L | (random.nextInt() & 0xfff);
		long variant = 0x8000_0000_0000_0000L | (random.nextLong() >>> 2);
		return new UUID((System.currentTimeMillis() << 16) | version, variant).toString();
	}

}
