package io.pipeset.slab.lookup;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The names of the types that keys have, each with a small number. Modules have types of
 * their own, so that the names are known once they have come. The thread of a connection
 * adds names; that of the job uses them when it has been handed a page with their
 * numbers.
 */
public final class KeyTypes {

	/** The number of the type of a key that does not exist. */
	public static final int NONE = 0;

	/** The most types that are told apart; all others count as the last. */
	private static final int MAX = 64;

	private static final byte[] OTHER = "(other)".getBytes(StandardCharsets.US_ASCII);

	private final byte[][] names = new byte[MAX][];

	private int count;

	/** Knows the types of Redis itself. */
	public KeyTypes() {
		for (String name : new String[] { "none", "string", "list", "set", "zset", "hash", "stream" }) {
			this.names[this.count++] = name.getBytes(StandardCharsets.US_ASCII);
		}
	}

	/** The number of a type, by its name; called by one thread at a time. */
	int number(byte[] line, int from, int to) {
		int known = this.count;
		for (int number = 0; number < known; number++) {
			byte[] name = this.names[number];
			if (name.length == to - from && Arrays.equals(name, 0, name.length, line, from, to)) {
				return number;
			}
		}
		if (known == MAX) {
			return MAX - 1;
		}
		this.names[known] = (known == MAX - 1) ? OTHER : Arrays.copyOfRange(line, from, to);
		this.count = known + 1;
		return known;
	}

	/**
	 * How many types are known.
	 * @return the numbers of types are below it
	 */
	public int count() {
		return this.count;
	}

	/**
	 * The name of a type.
	 * @param number its number
	 * @return for instance {@code zset}
	 */
	public String name(int number) {
		return new String(this.names[number], StandardCharsets.UTF_8);
	}

}
