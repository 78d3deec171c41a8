package io.pipeset.engine.slab.lookup;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The names of the types that keys have, each with a small number. Modules have types of
 * their own, so that the names are known once they have come. The threads of connections
 * add names; that of the job uses them when it has been handed a page with their numbers.
 */
public final class KeyTypes {

	/** The number of the type of a key that does not exist. */
	public static final int NONE = 0;

	/** The most types that are told apart; all others count as the last. */
	public static final int MAX = 64;

	private static final byte[] OTHER = "(other)".getBytes(StandardCharsets.US_ASCII);

	private final byte[][] names = new byte[MAX][];

	/** Written behind each name, so that whoever reads it finds the names below it. */
	private volatile int count;

	/** Knows the types of Redis itself. */
	public KeyTypes() {
		String[] known = { "none", "string", "list", "set", "zset", "hash", "stream" };
		for (int number = 0; number < known.length; number++) {
			this.names[number] = known[number].getBytes(StandardCharsets.US_ASCII);
		}
		this.count = known.length;
	}

	/** The number of a type, by its name. */
	int number(byte[] line, int from, int to) {
		int number = find(line, from, to);
		return (number >= 0) ? number : add(line, from, to);
	}

	private int find(byte[] line, int from, int to) {
		int known = this.count;
		for (int number = 0; number < known; number++) {
			byte[] name = this.names[number];
			if (name.length == to - from && Arrays.equals(name, 0, name.length, line, from, to)) {
				return number;
			}
		}
		return -1;
	}

	private synchronized int add(byte[] line, int from, int to) {
		int added = find(line, from, to);
		if (added >= 0) {
			return added;
		}
		int known = this.count;
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
	 * @return for instance {@code zset}
	 */
	public String name(int number) {
		return new String(this.names[number], StandardCharsets.UTF_8);
	}

}
