package io.pipeset.input;

import java.io.IOException;
import java.io.InputStream;

import io.pipeset.record.body.MalformedBodyException;

/**
 * The decompressed bytes of a body. Its compressed bytes are read through a buffer, so
 * that a fault is told with its offset.
 */
abstract class CompressedBody extends InputStream {

	private static final int BUFFER_BYTES = 16 * 1024;

	/** The compressed bytes that were received last, up to {@link #end}. */
	protected final byte[] buffer = new byte[BUFFER_BYTES];

	protected int position;

	protected int end;

	private final InputStream compressed;

	private final String encoding;

	/** The offset of the buffer's first byte in the body. */
	private long bufferStart;

	/**
	 * Decompresses a body.
	 * @param compressed the compressed bytes; left open
	 * @param encoding the name of the encoding, for messages
	 */
	CompressedBody(InputStream compressed, String encoding) {
		this.compressed = compressed;
		this.encoding = encoding;
	}

	@Override
	public final int read() throws IOException {
		byte[] single = new byte[1];
		return (read(single, 0, 1) < 0) ? -1 : single[0] & 0xff;
	}

	@Override
	public abstract int read(byte[] target, int offset, int length) throws IOException;

	/** Waits for a compressed byte; {@code true} if none follows. */
	protected final boolean isAtEnd() throws IOException {
		if (this.position < this.end) {
			return false;
		}
		int count = this.compressed.read(this.buffer);
		if (count < 0) {
			return true;
		}
		this.bufferStart += this.end;
		this.position = 0;
		this.end = count;
		return false;
	}

	/** Reads a compressed byte of a header or trailer. */
	protected int next() throws IOException {
		if (isAtEnd()) {
			throw broken("the body ends inside " + this.encoding + "'s header or trailer");
		}
		return this.buffer[this.position++] & 0xFF;
	}

	/** Reads a little-endian number of a header or trailer. */
	protected final long number(int bytes) throws IOException {
		long number = 0;
		for (int i = 0; i < bytes; i++) {
			number |= (long) next() << (8 * i);
		}
		return number;
	}

	/** The offset of the next compressed byte in the body. */
	protected final long offset() {
		return this.bufferStart + this.position;
	}

	protected final MalformedBodyException broken(String message) {
		return MalformedBodyException.inCompressed(offset(), message);
	}

}
