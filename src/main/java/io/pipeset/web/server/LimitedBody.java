package io.pipeset.web.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.util.concurrent.locks.Lock;

import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.request.BodyLimitException;
import io.pipeset.request.ByteLimit;
import jakarta.servlet.http.HttpServletRequest;
import org.apache.catalina.connector.ClientAbortException;
import org.apache.coyote.BadRequestException;
import org.jspecify.annotations.Nullable;

/**
 * The body of a request, up to a limit. It ends after the bytes that Content-Length
 * declares, so that the reader does not wait for more. It converts Tomcat's exceptions
 * into those that a job handles.
 */
public final class LimitedBody extends InputStream {

	static final String BROKEN = "the chunked transfer coding is broken there (RFC 9112, section 7.1)";

	private final InputStream body;

	private final Lock readLock;

	private final long contentLength;

	private final ByteLimit limit;

	private final boolean compressed;

	private long read;

	/**
	 * Limits the body of a request.
	 * @param limit the limit on the bytes as sent, before decompression
	 * @param compressed whether the bytes are compressed
	 * @throws IOException if the body cannot be read
	 */
	public LimitedBody(HttpServletRequest request, ByteLimit limit, boolean compressed) throws IOException {
		this.body = request.getInputStream();
		this.readLock = CallerConnection.readLock(request);
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
		// Returns all bytes within the limit before it reads the byte that exceeds it.
		long remaining = this.limit.most() - this.read;
		int bytes = readBody(target, offset, (int) Math.min(length, Math.max(1, remaining)));
		if (bytes > remaining) {
			throw new BodyLimitException(this.limit.exceededBy("body", "more than " + this.limit.most()));
		}
		this.read += Math.max(0, bytes);
		return bytes;
	}

	/**
	 * Whether the chunked coding of a body is broken.
	 * @param exception the exception of Tomcat, if it failed to read the body
	 * @return {@code false} if the caller has disconnected, although Tomcat reports that
	 * with a subclass of the same exception
	 */
	static boolean isChunkingBroken(@Nullable Object exception) {
		return exception instanceof BadRequestException && !(exception instanceof ClientAbortException);
	}

	private int readBody(byte[] target, int offset, int length) throws IOException {
		this.readLock.lock();
		try {
			return this.body.read(target, offset, length);
		}
		catch (IOException ex) {
			if (ex.getCause() instanceof SocketTimeoutException stalled) {
				throw stalled;
			}
			if (isChunkingBroken(ex)) {
				// The cause is left out, because its message has bytes of the body.
				throw (this.compressed) ? MalformedBodyException.inCompressed(this.read, BROKEN)
						: new MalformedBodyException(this.read, BROKEN);
			}
			throw ex;
		}
		finally {
			this.readLock.unlock();
		}
	}

}
