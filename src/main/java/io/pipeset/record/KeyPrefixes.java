package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.stream.Collectors;

/** The keys that a caller may use: keys that begin with one of its prefixes. */
public final class KeyPrefixes {

	/** Every key. */
	public static final KeyPrefixes ANY = new KeyPrefixes(new byte[][] { {} });

	private final byte[][] prefixes;

	private KeyPrefixes(byte[][] prefixes) {
		this.prefixes = prefixes;
	}

	/**
	 * Allows the keys with one of the prefixes.
	 * @param prefixes the beginnings of allowed keys; empty to allow no key
	 */
	public static KeyPrefixes of(Collection<String> prefixes) {
		return new KeyPrefixes(
				prefixes.stream().map((prefix) -> prefix.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new));
	}

	/** Whether a key begins with one of the prefixes. */
	public boolean contain(byte[] source, int from, int length) {
		for (byte[] prefix : this.prefixes) {
			if (length >= prefix.length
					&& Arrays.equals(source, from, from + prefix.length, prefix, 0, prefix.length)) {
				return true;
			}
		}
		return false;
	}

	@Override
	public String toString() {
		return Arrays.stream(this.prefixes)
			.map((prefix) -> "'" + new String(prefix, StandardCharsets.UTF_8) + "'")
			.collect(Collectors.joining(", "));
	}

}
