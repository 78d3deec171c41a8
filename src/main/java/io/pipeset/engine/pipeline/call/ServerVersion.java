package io.pipeset.engine.pipeline.call;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The product and version of a server, which say what it can do and what costs it less.
 *
 * @param valkey whether it is Valkey, whose versions are its own; Redis otherwise, or a
 * server that says it is as one
 * @param major the first number of the version
 * @param minor the second one
 */
public record ServerVersion(boolean valkey, int major, int minor) {

	private static final Pattern NUMBERS = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})\\b");

	/**
	 * Reads the version.
	 * @param info the answer to {@code INFO server}
	 * @return the version; {@code null} where the answer has none
	 */
	public static @Nullable ServerVersion of(String info) {
		// Valkey also tells the version of Redis that it is compatible with.
		String valkey = ServerInfo.field(info, "valkey_version:");
		String version = (valkey != null) ? valkey : ServerInfo.field(info, "redis_version:");
		Matcher numbers = NUMBERS.matcher((version != null) ? version : "");
		return (numbers.lookingAt()) ? new ServerVersion(valkey != null, Integer.parseInt(numbers.group(1)),
				Integer.parseInt(numbers.group(2))) : null;
	}

	/**
	 * Compares the version.
	 * @param major the first number of another version of the same product
	 * @param minor the second one
	 * @return {@code true} for that version and later ones
	 */
	public boolean isAtLeast(int major, int minor) {
		return this.major > major || (this.major == major && this.minor >= minor);
	}

}
