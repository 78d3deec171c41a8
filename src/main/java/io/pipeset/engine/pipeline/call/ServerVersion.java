package io.pipeset.engine.pipeline.call;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A server's product and version, which determine its features and costs.
 *
 * @param valkey {@code true} for Valkey, which has its own version numbers; {@code false}
 * for Redis and compatible servers
 * @param major the first number of the version
 * @param minor the second number of the version
 */
public record ServerVersion(boolean valkey, int major, int minor) {

	private static final Pattern NUMBERS = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})\\b");

	/**
	 * Reads the version.
	 * @param info the reply to {@code INFO server}
	 * @return the version; {@code null} if the reply has none
	 */
	public static @Nullable ServerVersion of(String info) {
		// Valkey also reports the Redis version that it is compatible with.
		String valkey = ServerInfo.field(info, "valkey_version:");
		String version = (valkey != null) ? valkey : ServerInfo.field(info, "redis_version:");
		Matcher numbers = NUMBERS.matcher((version != null) ? version : "");
		return (numbers.lookingAt()) ? new ServerVersion(valkey != null, Integer.parseInt(numbers.group(1)),
				Integer.parseInt(numbers.group(2))) : null;
	}

	/**
	 * Whether this version is the given one or a later one.
	 * @param major the first number of another version of the same product
	 * @param minor the second number
	 */
	public boolean isAtLeast(int major, int minor) {
		return this.major > major || (this.major == major && this.minor >= minor);
	}

}
