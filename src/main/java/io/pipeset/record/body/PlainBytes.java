package io.pipeset.record.body;

/**
 * The ASCII bytes that need no decoding in a format. They are skipped eight at a time,
 * because most values consist of them.
 */
public final class PlainBytes {

	private final boolean[] plain = new boolean[0x80];

	/** Each special byte of ASCII, repeated in all eight bytes of a long. */
	private final long[] specials;

	private PlainBytes(String specials) {
		for (int i = 0; i < this.plain.length; i++) {
			this.plain[i] = specials.indexOf(i) < 0;
		}
		this.specials = specials.chars().mapToLong((other) -> LineScanner.ONES * other).toArray();
	}

	/** All ASCII bytes except some. */
	public static PlainBytes asciiExcept(String specials) {
		return new PlainBytes(specials);
	}

	/**
	 * Finds the first byte that is not plain.
	 * @param to the index after the last byte
	 * @return its index, or {@code to} if there is none
	 */
	public int skip(byte[] bytes, int from, int to) {
		int at = from;
		for (; at <= to - Long.BYTES; at += Long.BYTES) {
			long eight = LineScanner.eight(bytes, at);
			long found = eight & LineScanner.HIGH_BITS;
			for (long other : this.specials) {
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
