package io.pipeset.input;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

import io.pipeset.request.BodyLimitException;
import io.pipeset.request.ByteLimit;

/**
 * Limits the bytes of a decompressed body. It returns all bytes within the limit before
 * it fails, so that the records that run do not depend on how the bytes arrive.
 */
final class InflatedBody extends FilterInputStream {

	private final ByteLimit limit;

	private long inflated;

	InflatedBody(InputStream inflated, ByteLimit limit) {
		super(inflated);
		this.limit = limit;
	}

	@Override
	public int read() throws IOException {
		byte[] single = new byte[1];
		return (read(single, 0, 1) < 0) ? -1 : single[0] & 0xff;
	}

	@Override
	public int read(byte[] target, int offset, int length) throws IOException {
		long left = this.limit.most() - this.inflated;
		int count = this.in.read(target, offset, (int) Math.min(length, Math.max(1, left)));
		if (count > left) {
			throw new BodyLimitException(this.limit.exceededBy("inflated body", "more than " + this.limit.most()));
		}
		this.inflated += Math.max(count, 0);
		return count;
	}

}
