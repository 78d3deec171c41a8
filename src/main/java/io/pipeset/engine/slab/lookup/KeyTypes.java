package io.pipeset.engine.slab.lookup;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The names of key types, each with a small number. Modules add their own types, so a
 * name is known only after Redis has sent it. Connection threads add names. The job's
 * thread reads them after it has received a page with their numbers.
 */
public final class KeyTypes {

	/** The number of the type of a missing key. */
	public static final int NONE = 0;

	/** The most types with a number each. All others share the last number. */
	public static final int MAX = 64;

	private static final byte[] OTHER = "(other)".getBytes(StandardCharsets.US_ASCII);

	private final byte[][] names = new byte[MAX][];

	/**
	 * Written after each name, so that a thread that reads the count also sees the names.
	 */
	private volatile int count;

	/** Creates the list with Redis's own types. */
	public KeyTypes() {
		String[] known = { "none", "string", "list", "set", "zset", "hash", "stream" };
		for (int number = 0; number < known.length; number++) {
			this.names[number] = known[number].getBytes(StandardCharsets.US_ASCII);
		}
		this.count = known.length;
	}

	/** The number of a type with this name. A new name gets a new number. */
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
	 * @return the number after the largest number of a type
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
