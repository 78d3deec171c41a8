package io.pipeset.report;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The Redis that jobs load, as it is configured and without credentials. The files, the
 * records and the keys of jobs carry it, because they mean nothing to a service of
 * another Redis. A failover, or another number of masters, does not change it.
 *
 * @param name its text for people and for keys: {@code localhost:6379/0},
 * {@code mymaster/0} or {@code 10.0.0.1:7000,10.0.0.2:7000/cluster}
 */
public record RedisIdentity(String name) {

	/** Longer lists of addresses are shown in part. */
	private static final int MOST_CHARACTERS = 200;

	/**
	 * The Redis at some addresses, in whatever order they are listed.
	 * @param addresses those of {@link #address}, or the name of Sentinel's master
	 * @param database its number, or {@code cluster}
	 */
	public static RedisIdentity of(Stream<String> addresses, String database) {
		String all = addresses.distinct().sorted().collect(Collectors.joining(","));
		return new RedisIdentity(
				((all.length() <= MOST_CHARACTERS) ? all : all.substring(0, MOST_CHARACTERS) + "..." + digest(all))
						+ '/' + database);
	}

	/** The one spelling of a server's address. */
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
