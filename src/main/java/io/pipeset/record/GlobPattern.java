package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * A glob-style pattern of keys, with exactly the rules of Redis's SCAN: {@code *},
 * {@code ?}, {@code [a-c]}, {@code [^x]}, and a backslash before a character that stands
 * for itself. It compares bytes.
 */
public final class GlobPattern {

	/** The longest pattern in bytes. Redis matches nothing beyond 1,000 asterisks. */
	public static final int MAX_BYTES = 512;

	private static final int ANY = -1;

	private static final int STAR = -2;

	/** The elements from here downwards are sets of bytes. */
	private static final int FIRST_SET = -3;

	private final String text;

	private final byte[] pattern;

	/** Bytes from 0 to 255, {@link #ANY}, {@link #STAR} or sets. */
	private final int[] elements;

	private int count;

	private final boolean[][] sets;

	private int setCount;

	/**
	 * Whether a range has an end that is not ASCII, whose order depends on the server.
	 */
	private boolean ambiguous;

	private GlobPattern(String text) {
		this.text = text;
		this.pattern = text.getBytes(StandardCharsets.UTF_8);
		this.elements = new int[this.pattern.length];
		this.sets = new boolean[this.pattern.length][];
		int at = 0;
		while (at < this.pattern.length) {
			at = parse(at);
		}
	}

	/**
	 * Parses a pattern.
	 * @return {@code null} if the pattern is empty or longer than {@link #MAX_BYTES}, or
	 * if it has a range that is not ASCII, for which servers differ
	 */
	public static @Nullable GlobPattern parse(String text) {
		if (text.isEmpty() || text.length() > MAX_BYTES) {
			return null;
		}
		GlobPattern pattern = new GlobPattern(text);
		return (pattern.ambiguous || pattern.pattern.length > MAX_BYTES) ? null : pattern;
	}

	/** Parses one element; returns the index after it. */
	private int parse(int at) {
		switch (this.pattern[at]) {
			case '*' -> {
				if (this.count == 0 || this.elements[this.count - 1] != STAR) {
					this.elements[this.count++] = STAR;
				}
			}
			case '?' -> this.elements[this.count++] = ANY;
			case '[' -> {
				return parseSet(at + 1);
			}
			case '\\' -> {
				int literal = (at + 1 < this.pattern.length) ? at + 1 : at;
				this.elements[this.count++] = this.pattern[literal] & 0xFF;
				return literal + 1;
			}
			default -> this.elements[this.count++] = this.pattern[at] & 0xFF;
		}
		return at + 1;
	}

	/** Parses a set, which the end of the pattern closes as well. */
	private int parseSet(int from) {
		boolean[] members = new boolean[256];
		int at = from;
		boolean negated = at < this.pattern.length && this.pattern[at] == '^';
		if (negated) {
			at++;
		}
		while (at < this.pattern.length) {
			int left = this.pattern.length - at;
			if (left >= 2 && this.pattern[at] == '\\') {
				at++;
				members[this.pattern[at] & 0xFF] = true;
			}
			else if (this.pattern[at] == ']') {
				break;
			}
			else if (left >= 3 && this.pattern[at + 1] == '-') {
				addRange(members, this.pattern[at], this.pattern[at + 2]);
				at += 2;
			}
			else {
				members[this.pattern[at] & 0xFF] = true;
			}
			at++;
		}
		for (int i = 0; negated && i < members.length; i++) {
			members[i] = !members[i];
		}
		this.sets[this.setCount] = members;
		this.elements[this.count++] = FIRST_SET - this.setCount++;
		return at + 1;
	}

	private void addRange(boolean[] members, byte from, byte to) {
		this.ambiguous |= from < 0 || to < 0;
		Arrays.fill(members, Math.min(from & 0xFF, to & 0xFF), Math.max(from & 0xFF, to & 0xFF) + 1, true);
	}

	/** Whether the whole key matches the pattern. */
	public boolean matches(byte[] source, int from, int length) {
		if (length == 0) {
			// Only this pattern is not compared with keys.
			return this.text.equals("*");
		}
		int end = from + length;
		int element = 0;
		int at = from;
		int afterStar = -1;
		int retry = 0;
		while (at < end) {
			if (element < this.count && this.elements[element] == STAR) {
				element++;
				afterStar = element;
				retry = at;
			}
			else if (element < this.count && accepts(this.elements[element], source[at] & 0xFF)) {
				element++;
				at++;
			}
			else if (afterStar >= 0) {
				element = afterStar;
				retry++;
				at = retry;
			}
			else {
				return false;
			}
		}
		return element == this.count || (element == this.count - 1 && this.elements[element] == STAR);
	}

	private boolean accepts(int element, int value) {
		return element == value || element == ANY || (element <= FIRST_SET && this.sets[FIRST_SET - element][value]);
	}

	@Override
	public String toString() {
		return this.text;
	}

}
