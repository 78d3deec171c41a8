package io.pipeset.report;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The identity of the Redis that jobs load: its configured address without credentials.
 * The files, records and keys of jobs include it, because they are not valid for another
 * Redis. Failovers and resharding do not change it.
 *
 * @param name its text for messages and keys: {@code localhost:6379/0},
 * {@code mymaster/0} or {@code 10.0.0.1:7000,10.0.0.2:7000/cluster}
 */
public record RedisIdentity(String name) {

	/**
	 * The most characters of the list of addresses. A longer list is cut, and a digest of
	 * it is appended.
	 */
	private static final int MAX_CHARACTERS = 200;

	/**
	 * The Redis at these addresses. Their order does not matter.
	 * @param addresses addresses from {@link #address}, or the name of Sentinel's master
	 * @param database its number, or {@code cluster}
	 */
	public static RedisIdentity of(Stream<String> addresses, String database) {
		String all = addresses.distinct().sorted().collect(Collectors.joining(","));
		return new RedisIdentity(
				((all.length() <= MAX_CHARACTERS) ? all : all.substring(0, MAX_CHARACTERS) + "..." + digest(all)) + '/'
						+ database);
	}

	/** The canonical form of a server's address. */
	public static String address(String host, int port) {
		String name = host.toLowerCase(Locale.ROOT).replaceFirst("\\.$", "");
		return ((name.contains(":")) ? '[' + name + ']' : name) + ':' + port;
	}

	private static String digest(String text) {
		try {
			byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
			return HexFormat.of().formatHex(hash, 0, 8);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
