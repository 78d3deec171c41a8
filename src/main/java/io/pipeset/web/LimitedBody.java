package io.pipeset.web;

import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;

import io.pipeset.job.BodyLimitException;

/**
 * A request's body, up to the limit. It knows by its Content-Length where it ends, so
 * that nobody waits for bytes that will not come.
 */
final class LimitedBody extends InputStream {

	private final InputStream body;

	private final long contentLength;

	private final long maxBytes;

	private long read;

	/**
	 * Limits a body.
	 * @param body the bytes as they come over the wire
	 * @param contentLength their number as the request declares it, or -1
	 * @param maxBytes the limit
	 */
	LimitedBody(InputStream body, long contentLength, long maxBytes) {
		this.body = body;
		this.contentLength = contentLength;
		this.maxBytes = maxBytes;
	}

	@Override
	public int available() throws IOException {
		return (this.read == this.contentLength) ? 1 : this.body.available();
	}

	@Override
	public int read() throws IOException {
		byte[] single = new byte[1];
		return (read(single, 0, 1) < 0) ? -1 : single[0] & 0xff;
	}

	@Override
	public int read(byte[] target, int offset, int length) throws IOException {
		if (this.read == this.contentLength) {
			return -1;
		}
		int bytes = readBody(target, offset, length);
		if (bytes > 0) {
			this.read += bytes;
			if (this.read > this.maxBytes) {
				throw new BodyLimitException(tooLarge("more than " + this.maxBytes, this.maxBytes));
			}
		}
		return bytes;
	}

	static String tooLarge(String met, long maxBytes) {
		return "The body has " + met + " bytes; pipeset.limits.max-body-bytes allows " + maxBytes;
	}

	private int readBody(byte[] target, int offset, int length) throws IOException {
		try {
			return this.body.read(target, offset, length);
		}
		catch (IOException ex) {
			if (ex.getCause() instanceof SocketTimeoutException stalled) {
				throw stalled;
			}
			throw ex;
		}
	}

}
