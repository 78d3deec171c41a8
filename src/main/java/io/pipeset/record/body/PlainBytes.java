package io.pipeset.record.body;

/**
 * The bytes of ASCII that stand for themselves in a format. They are skipped eight at a
 * time, as most values have no others.
 */
public final class PlainBytes {

	private final boolean[] plain = new boolean[0x80];

	/** Each of the others, eight times. */
	private final long[] others;

	private PlainBytes(String others) {
		for (int i = 0; i < this.plain.length; i++) {
			this.plain[i] = others.indexOf(i) < 0;
		}
		this.others = others.chars().mapToLong((other) -> LineScanner.ONES * other).toArray();
	}

	/** All bytes of ASCII but some. */
	public static PlainBytes asciiBut(String others) {
		return new PlainBytes(others);
	}

	/**
	 * Finds the first byte that is none of these.
	 * @param to the byte after the last one
	 * @return its index, or {@code to} if there is none
	 */
	public int skip(byte[] bytes, int from, int to) {
		int at = from;
		for (; at <= to - Long.BYTES; at += Long.BYTES) {
			long eight = LineScanner.eight(bytes, at);
			long found = eight & LineScanner.HIGH_BITS;
			for (long other : this.others) {
				found |= LineScanner.zeros(eight ^ other);
			}
			if (found != 0) {
				return at + Long.numberOfTrailingZeros(found) / Byte.SIZE;
			}
		}
		while (at < to && bytes[at] >= 0 && this.plain[bytes[at]]) {
			at++;
		}
		return at;
	}

}
