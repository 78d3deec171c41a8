package io.pipeset.web;

import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;

import io.pipeset.job.input.BodyLimitException;
import io.pipeset.record.body.MalformedBodyException;
import org.apache.catalina.connector.ClientAbortException;
import org.apache.coyote.BadRequestException;
import org.jspecify.annotations.Nullable;

/**
 * A request's body, up to the limit. It knows by its Content-Length where it ends, so
 * that nobody waits for bytes that will not come.
 */
final class LimitedBody extends InputStream {

	static final String BROKEN = "the chunked transfer coding is broken there (RFC 9112, section 7.1)";

	private final InputStream body;

	private final long contentLength;

	private final long maxBytes;

	private final boolean compressed;

	private long read;

	/**
	 * Limits a body.
	 * @param body the bytes as they come over the wire
	 * @param contentLength their number as the request declares it, or -1
	 * @param maxBytes the limit
	 * @param compressed whether the bytes are yet to be inflated
	 */
	LimitedBody(InputStream body, long contentLength, long maxBytes, boolean compressed) {
		this.body = body;
		this.contentLength = contentLength;
		this.maxBytes = maxBytes;
		this.compressed = compressed;
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

	/**
	 * Whether the chunks of a body did not fit.
	 * @param found what Tomcat has found while it read a body
	 * @return {@code false} where the caller has gone away, which Tomcat has as a special
	 * case of that
	 */
	static boolean isBroken(@Nullable Object found) {
		return found instanceof BadRequestException && !(found instanceof ClientAbortException);
	}

	private int readBody(byte[] target, int offset, int length) throws IOException {
		try {
			return this.body.read(target, offset, length);
		}
		catch (IOException ex) {
			if (ex.getCause() instanceof SocketTimeoutException stalled) {
				throw stalled;
			}
			if (isBroken(ex)) {
				// Without its message, which has bytes of the body.
				throw (this.compressed) ? MalformedBodyException.inCompressed(this.read, BROKEN)
						: new MalformedBodyException(this.read, BROKEN);
			}
			throw ex;
		}
	}

}
