package io.pipeset.web.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import jakarta.servlet.http.HttpServletRequest;
import org.apache.coyote.ActionCode;
import org.apache.coyote.Request;
import org.apache.juli.logging.Log;
import org.apache.juli.logging.LogFactory;
import org.apache.tomcat.util.net.ApplicationBufferHandler;
import org.apache.tomcat.util.net.NioChannel;
import org.apache.tomcat.util.net.SocketWrapperBase;

/**
 * Drains the rest of bodies whose requests were answered early, because many clients read
 * the response only after they have sent the whole body. A few threads drain at once. If
 * a client sends too slowly, its connection ends after a few seconds.
 */
public final class BodyDrainer {

	/** The request attribute with a {@link Runnable} that starts a drain. */
	private static final String START = BodyDrainer.class.getName() + ".start";

	/** The request attribute with the {@link BackgroundDrain} of its body. */
	private static final String DRAIN = BodyDrainer.class.getName() + ".drain";

	private static final Log log = LogFactory.getLog(BodyDrainer.class);

	private static final int PERIOD_SECONDS = 5;

	/** If a client sends fewer bytes in a period, its drain ends. */
	private static final long MIN_BYTES = 1 << 20;

	private static final int MAX_PERIODS = 6;

	private static final int THREADS = 16;

	private static final int BUFFER_BYTES = 16 << 10;

	private final UploadProtocol protocol;

	private final Semaphore threads = new Semaphore(THREADS);

	BodyDrainer(UploadProtocol protocol) {
		this.protocol = protocol;
	}

	/**
	 * Drains the rest of a request's body in another thread while the response is
	 * written. Without this, a large response to a client that only sends would block.
	 * @param request a request whose body has no reader any more
	 */
	public static void drainWhileAnswering(HttpServletRequest request) {
		if (request.getAttribute(START) instanceof Runnable start) {
			start.run();
		}
	}

	/** Lets {@link #drainWhileAnswering} drain the body of a request. */
	void attachTo(Request request) {
		request.setAttribute(START, (Runnable) () -> startThread(request));
	}

	private void startThread(Request request) {
		if (!isFullyRead(request) && isBodySent(request) && this.threads.tryAcquire()) {
			BackgroundDrain drain = new BackgroundDrain(request);
			Thread thread = new Thread(drain, "unread-body");
			thread.setDaemon(true);
			try {
				thread.start();
				request.setAttribute(DRAIN, drain);
			}
			catch (OutOfMemoryError ex) {
				// The process can start no more threads. The request's own thread drains
				// the body after the response.
				this.threads.release();
			}
		}
	}

	/** Drains the rest of a body after the response is written. */
	void drain(Request request) {
		if (request.getAttribute(DRAIN) instanceof BackgroundDrain drain) {
			drain.await();
		}
		if (isFullyRead(request)) {
			return;
		}
		boolean drained = false;
		if (request.getAttribute(DRAIN) == null && isBodySent(request) && this.threads.tryAcquire()) {
			try {
				drained = drainInTime(request);
			}
			finally {
				this.threads.release();
			}
		}
		if (!drained) {
			closeAfterResponse(request);
		}
	}

	/** Makes Tomcat close the connection, and read no more of the request. */
	static void closeAfterResponse(Request request) {
		request.action(ActionCode.DISABLE_SWALLOW_INPUT, null);
	}

	/** Makes Tomcat close the connection if some of the request is unread. */
	static void closeUnlessFullyRead(Request request) {
		if (!isFullyRead(request)) {
			closeAfterResponse(request);
		}
	}

	private static boolean isFullyRead(Request request) {
		AtomicBoolean read = new AtomicBoolean();
		request.action(ActionCode.REQUEST_BODY_FULLY_READ, read);
		return read.get();
	}

	/**
	 * Whether the client sends its body. If a client waits for 100 Continue and gets a
	 * final response, it may send nothing.
	 */
	private static boolean isBodySent(Request request) {
		return !request.hasExpectation() || request.getBytesRead() > 0;
	}

	/**
	 * Drains all bytes after a request that Tomcat could not parse. The end of its body
	 * is unknown, and the client may lose the response if the connection is closed while
	 * bytes are unread.
	 */
	void drain(SocketWrapperBase<NioChannel> connection) {
		if (this.threads.tryAcquire()) {
			CallerConnection.endOutput(connection);
			try {
				drainInTime(connection.getServletConnection("", "").getConnectionId(),
						(drained) -> drained.readFrom(connection));
			}
			finally {
				this.threads.release();
			}
		}
	}

	private boolean drainInTime(Request request) {
		return drainInTime(request.getServletConnection().getConnectionId(), (drained) -> drained.readFrom(request));
	}

	private boolean drainInTime(String connectionId, Source source) {
		DrainedBytes drained = new DrainedBytes();
		RateCheck check = new RateCheck(this.protocol, connectionId, drained);
		try {
			// Another thread checks the rate: each byte restarts Tomcat's timeout.
			Future<?> checks = this.protocol.getUtilityExecutor()
				.scheduleAtFixedRate(check, PERIOD_SECONDS, PERIOD_SECONDS, TimeUnit.SECONDS);
			try {
				source.readInto(drained);
				return true;
			}
			finally {
				check.end();
				checks.cancel(false);
			}
		}
		catch (IOException | RejectedExecutionException ex) {
			log.debug("Cannot drain the rest of a body", ex);
			return false;
		}
	}

	/** Drains a body while another thread writes the response. */
	private final class BackgroundDrain implements Runnable {

		private final Request request;

		private final CompletableFuture<?> end = new CompletableFuture<>();

		private BackgroundDrain(Request request) {
			this.request = request;
		}

		@Override
		public void run() {
			try {
				drainInTime(this.request);
			}
			finally {
				BodyDrainer.this.threads.release();
				this.end.complete(null);
			}
		}

		/** Waits for the end, because Tomcat reuses the request afterwards. */
		private void await() {
			AtomicBoolean failed = new AtomicBoolean();
			this.request.action(ActionCode.IS_ERROR, failed);
			if (failed.get()) {
				// The connection is broken, so the client cannot read the response.
				BodyDrainer.this.protocol.endInput(this.request.getServletConnection().getConnectionId());
			}
			this.end.join();
		}

	}

	/**
	 * Ends the connection's input if too few bytes of a body arrive in a period, or if
	 * the drain takes too many periods.
	 */
	private static final class RateCheck implements Runnable {

		private final UploadProtocol protocol;

		private final String connectionId;

		private final DrainedBytes drained;

		private long seenBytes;

		private int periods;

		private boolean ended;

		private RateCheck(UploadProtocol protocol, String connectionId, DrainedBytes drained) {
			this.protocol = protocol;
			this.connectionId = connectionId;
			this.drained = drained;
		}

		@Override
		public synchronized void run() {
			long bytes = this.drained.count - this.seenBytes;
			this.seenBytes += bytes;
			this.periods++;
			if (!this.ended && (bytes < MIN_BYTES || this.periods >= MAX_PERIODS)) {
				this.protocol.endInput(this.connectionId);
			}
		}

		/** Ends the check, because the connection may get another request from now on. */
		private synchronized void end() {
			this.ended = true;
		}

	}

	/** The source of the bytes to drain. */
	private interface Source {

		void readInto(DrainedBytes drained) throws IOException;

	}

	/** Reads bytes, and keeps only their number. */
	private static final class DrainedBytes implements ApplicationBufferHandler {

		private volatile long count;

		private ByteBuffer bytes = ByteBuffer.allocate(0);

		/** Reads to the end of a request's body. */
		private void readFrom(Request request) throws IOException {
			long read = 0;
			for (int length = request.doRead(this); length >= 0; length = request.doRead(this)) {
				read += length;
				this.count = read;
			}
		}

		/** Reads to the end of a connection's input. */
		private void readFrom(SocketWrapperBase<?> connection) throws IOException {
			ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
			long read = 0;
			for (int length = connection.read(true, buffer); length >= 0; length = connection.read(true, buffer)) {
				read += length;
				this.count = read;
				buffer.clear();
			}
		}

		@Override
		public void setByteBuffer(ByteBuffer buffer) {
			this.bytes = buffer;
		}

		@Override
		public ByteBuffer getByteBuffer() {
			return this.bytes;
		}

		@Override
		public void expand(int size) {
			// Tomcat never expands this buffer, because it sets one of its own.
		}

	}

}
