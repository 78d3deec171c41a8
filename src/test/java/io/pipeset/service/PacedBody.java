package io.pipeset.service;

import java.io.InputStream;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A body that comes in pieces with pauses of about a millisecond. A lane waits for more
 * input as long as that, so that a slab is lent in one moment and taken back in the next.
 */
public final class PacedBody extends InputStream {

	private static final int PIECES = 200;

	private final byte[] bytes;

	private final Random random;

	private int at;

	public PacedBody(byte[] bytes, Random random) {
		this.bytes = bytes;
		this.random = random;
	}

	@Override
	public int read() {
		byte[] single = new byte[1];
		return (read(single, 0, 1) < 0) ? -1 : single[0] & 0xff;
	}

	@Override
	public int read(byte[] target, int offset, int length) {
		if (this.at == this.bytes.length) {
			return -1;
		}
		if (this.random.nextInt(4) > 0) {
			LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(500 + this.random.nextInt(1000)));
		}
		int piece = 1 + this.random.nextInt(2 * this.bytes.length / PIECES + 50);
		int count = Math.min(Math.min(piece, length), this.bytes.length - this.at);
		System.arraycopy(this.bytes, this.at, target, offset, count);
		this.at += count;
		return count;
	}

}
