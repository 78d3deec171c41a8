package io.pipeset.input;

import java.io.ByteArrayInputStream;

/** A stream whose bytes arrive in pieces. */
final class Pieces extends ByteArrayInputStream {

	private final int piece;

	Pieces(byte[] bytes, int piece) {
		super(bytes);
		this.piece = piece;
	}

	@Override
	public synchronized int read(byte[] target, int offset, int length) {
		return super.read(target, offset, Math.min(length, this.piece));
	}

}
