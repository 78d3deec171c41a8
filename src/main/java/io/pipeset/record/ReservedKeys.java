package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The keys of the service itself in Redis, which callers may not use. */
public final class ReservedKeys {

	private static final byte[] PREFIX = "pipeset:".getBytes(StandardCharsets.US_ASCII);

	private ReservedKeys() {
	}

	/**
	 * Whether a key is reserved.
	 * @return {@code true} for a key that begins with {@code pipeset:}
	 */
	public static boolean contains(byte[] source, int from, int length) {
		return length >= PREFIX.length && source[from] == PREFIX[0]
				&& Arrays.equals(source, from, from + PREFIX.length, PREFIX, 0, PREFIX.length);
	}

}
