package io.pipeset.web.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.catalina.connector.InputBuffer;
import org.apache.coyote.ActionCode;
import org.apache.coyote.Request;
import org.apache.juli.logging.Log;
import org.apache.juli.logging.LogFactory;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;
import org.jspecify.annotations.Nullable;

/**
 * Drains the rest of a body whose request was answered early, because many clients read
 * the response only after they have sent the whole body. If a client sends too slowly or
 * for too long, the input of its connection ends.
 */
final class BodyDrain {

	/** The most bodies that are drained at once. */
	static final int MAX_DRAINS = 16;

	private static final Log log = LogFactory.getLog(BodyDrain.class);

	/** The period over which the rate of a body is measured. */
	private static final Duration PERIOD = Duration.ofSeconds(5);

	private static final Duration MAX_TIME = Duration.ofSeconds(30);

	private static final int BUFFER_BYTES = 16 << 10;

	private final Request request;

	private final NioSocketWrapper socket;

	private final Semaphore permits;

	private final AtomicLong bytes = new AtomicLong();

	/** The end of the drain in another thread. */
	private @Nullable CompletableFuture<Void> background;

	/** The rate of the drain in progress. */
	private @Nullable Rate rate;

	private long start;

	/**
	 * Creates a drain that has not started.
	 * @param permits the permits of all drains of a web server
	 */
	BodyDrain(Request request, NioSocketWrapper socket, Semaphore permits) {
		this.request = request;
		this.socket = socket;
		this.permits = permits;
	}

	/**
	 * Drains in another thread while the response is written. Without this, a large
	 * response to a client that only sends would block.
	 */
	void start() {
		if (!canStart()) {
			return;
		}
		try {
			this.background = CompletableFuture.runAsync(this::drainBody, (task) -> {
				Thread thread = new Thread(task, "unread-body");
				thread.setDaemon(true);
				thread.start();
			});
		}
		catch (OutOfMemoryError ex) {
			// The process can start no more threads. The request's own thread drains the
			// body after the response.
			this.permits.release();
		}
	}

	/** Drains the rest of the body after the response is written. */
	void finish() {
		if (this.background != null) {
			AtomicBoolean failed = new AtomicBoolean();
			this.request.action(ActionCode.IS_ERROR, failed);
			if (failed.get()) {
				// The connection is broken, so the client cannot read the response.
				CallerConnection.endInput(this.socket);
			}
			// Tomcat reuses the request afterwards.
			this.background.join();
		}
		else if (canStart()) {
			drainBody();
		}
	}

	/**
	 * Drains all bytes after a request that Tomcat could not parse. The end of its body
	 * is unknown, and the client may lose the response if the connection is closed while
	 * bytes are unread.
	 */
	void drainConnection() {
		if (this.permits.tryAcquire()) {
			CallerConnection.endOutput(this.socket);
			ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
			drain(() -> this.socket.read(true, buffer.clear()));
		}
	}

	/**
	 * Ends the input if too few bytes arrive, or if the drain takes too long. Tomcat's
	 * own timeout starts again with each byte. Call this once a second.
	 */
	synchronized void check() {
		long now = System.nanoTime();
		if (this.rate != null && (this.rate.update(now, this.bytes.get()) || now - this.start > MAX_TIME.toNanos())) {
			CallerConnection.endInput(this.socket);
		}
	}

	/** Whether some of the body is unread, the client sends it, and there is a permit. */
	private boolean canStart() {
		// A client that waits for 100 Continue and gets a final response may send
		// nothing.
		return !isFullyRead(this.request) && (!this.request.hasExpectation() || this.request.getBytesRead() > 0)
				&& this.permits.tryAcquire();
	}

	static boolean isFullyRead(Request request) {
		AtomicBoolean read = new AtomicBoolean();
		request.action(ActionCode.REQUEST_BODY_FULLY_READ, read);
		return read.get();
	}

	private void drainBody() {
		InputBuffer buffer = new InputBuffer(this.request);
		drain(() -> this.request.doRead(buffer));
	}

	/** Reads to the end, and releases the permit. */
	private void drain(Source source) {
		setRate(new Rate(PERIOD));
		try {
			for (int length = source.read(); length >= 0; length = source.read()) {
				this.bytes.addAndGet(length);
			}
		}
		catch (IOException ex) {
			log.debug("Cannot drain the rest of a body", ex);
		}
		finally {
			// The connection may get another request from now on, so the checks end.
			setRate(null);
			this.permits.release();
		}
	}

	private synchronized void setRate(@Nullable Rate rate) {
		this.rate = rate;
		this.start = System.nanoTime();
	}

	/** The source of the bytes to drain. */
	private interface Source {

		int read() throws IOException;

	}

}
