package io.pipeset.job;

import java.security.SecureRandom;
import java.util.UUID;

/**
 * Names of jobs that sort by time:
 * <a href="https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-7">UUIDs of version
 * 7</a>, which Java 17 cannot make.
 */
final class JobId {

	/** Whoever knows the id of a reliable pop may acknowledge its values. */
	private static final SecureRandom random = new SecureRandom();

	private JobId() {
	}

	static String next() {
		long version = 0x7000L | (random.nextInt() & 0xfff);
		long variant = 0x8000_0000_0000_0000L | (random.nextLong() >>> 2);
		return new UUID((System.currentTimeMillis() << 16) | version, variant).toString();
	}

}
