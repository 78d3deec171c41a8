package io.pipeset.record.body;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * A connection that delivers some bytes and then no more, so that the next read times
 * out.
 */
public final class PiecesThenSilence extends InputStream {

	private final InputStream bytes;

	/**
	 * Creates the connection.
	 * @param bytes the text to deliver, as UTF-8
	 */
	public PiecesThenSilence(String bytes) {
		this.bytes = new ByteArrayInputStream(bytes.getBytes(StandardCharsets.UTF_8));
	}

	@Override
	public int read() throws IOException {
		int b = this.bytes.read();
		if (b < 0) {
			throw new IOException("silence");
		}
		return b;
	}

	@Override
	public int read(byte[] target, int offset, int length) throws IOException {
		int count = this.bytes.read(target, offset, length);
		if (count < 0) {
			throw new IOException("silence");
		}
		return count;
	}

}
