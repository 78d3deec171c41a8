package io.pipeset.record.body;

import java.io.ByteArrayInputStream;
import java.io.InputStream;

/**
 * A body that arrives in pieces of a given size. The first piece may have another size.
 */
public final class SplitBody extends InputStream {

	private final ByteArrayInputStream bytes;

	private final int piece;

	private int next;

	/**
	 * Splits a body.
	 * @param bytes the body
	 * @param first the size of the first piece
	 * @param piece the size of the others
	 */
	public SplitBody(byte[] bytes, int first, int piece) {
		this.bytes = new ByteArrayInputStream(bytes);
		this.piece = piece;
		this.next = first;
	}

	@Override
	public int read() {
		return this.bytes.read();
	}

	@Override
	public int read(byte[] target, int offset, int length) {
		int count = this.bytes.read(target, offset, Math.min(length, this.next));
		this.next = this.piece;
		return count;
	}

}
