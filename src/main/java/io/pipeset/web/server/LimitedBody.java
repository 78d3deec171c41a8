package io.pipeset.web.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.util.concurrent.locks.Lock;

import io.pipeset.job.input.BodyLimitException;
import io.pipeset.job.input.ByteLimit;
import io.pipeset.record.body.MalformedBodyException;
import jakarta.servlet.http.HttpServletRequest;
import org.apache.catalina.connector.ClientAbortException;
import org.apache.coyote.BadRequestException;
import org.jspecify.annotations.Nullable;

/**
 * A request's body, up to the limit. It ends with the last byte that its Content-Length
 * declares, so that nobody waits for more. It turns Tomcat's failures into those that a
 * job knows.
 */
public final class LimitedBody extends InputStream {

	static final String BROKEN = "the chunked transfer coding is broken there (RFC 9112, section 7.1)";

	private final InputStream body;

	private final Lock reading;

	private final long contentLength;

	private final ByteLimit limit;

	private final boolean compressed;

	private long read;

	/**
	 * Limits the body of a request.
	 * @param limit the limit on the bytes as they come over the wire
	 * @param compressed whether the bytes are yet to be inflated
	 * @throws IOException if the body cannot be read
	 */
	public LimitedBody(HttpServletRequest request, ByteLimit limit, boolean compressed) throws IOException {
		this.body = request.getInputStream();
		this.reading = CallerConnection.reading(request);
		this.contentLength = request.getContentLengthLong();
		this.limit = limit;
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
		// All bytes within the limit are handed out, however they arrive.
		long left = this.limit.most() - this.read;
		int bytes = readBody(target, offset, (int) Math.min(length, Math.max(1, left)));
		if (bytes > left) {
			throw new BodyLimitException(this.limit.exceededBy("body", "more than " + this.limit.most()));
		}
		this.read += Math.max(0, bytes);
		return bytes;
	}

	/**
	 * Whether the chunked coding of a body is broken.
	 * @param found the failure that Tomcat met while it read the body
	 * @return {@code false} if the caller has gone away, for which Tomcat has a subclass
	 * of the same exception
	 */
	static boolean isBroken(@Nullable Object found) {
		return found instanceof BadRequestException && !(found instanceof ClientAbortException);
	}

	private int readBody(byte[] target, int offset, int length) throws IOException {
		this.reading.lock();
		try {
			return this.body.read(target, offset, length);
		}
		catch (IOException ex) {
			if (ex.getCause() instanceof SocketTimeoutException stalled) {
				throw stalled;
			}
			if (isBroken(ex)) {
				// Without the cause, whose message has bytes of the body.
				throw (this.compressed) ? MalformedBodyException.inCompressed(this.read, BROKEN)
						: new MalformedBodyException(this.read, BROKEN);
			}
			throw ex;
		}
		finally {
			this.reading.unlock();
		}
	}

}
