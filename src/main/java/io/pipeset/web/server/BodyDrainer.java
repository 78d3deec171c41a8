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
 * Reads and drops the rest of bodies that were answered early, since many clients read
 * the answer only after they have sent all. A few threads do so at once, and only for a
 * few seconds where little comes; then the connection ends.
 */
public final class BodyDrainer {

	/** The attribute of a request that begins to drop the rest of its body. */
	private static final String BEGIN = BodyDrainer.class.getName() + ".begin";

	/** The attribute of a request whose body is being dropped by a thread of its own. */
	private static final String DROPPING = BodyDrainer.class.getName() + ".dropping";

	private static final Log log = LogFactory.getLog(BodyDrainer.class);

	private static final int PERIOD_SECONDS = 5;

	/** A client that sends less in a period will not finish soon. */
	private static final long LEAST_BYTES = 1 << 20;

	private static final int MOST_PERIODS = 6;

	private static final int THREADS = 16;

	private static final int BUFFER_BYTES = 16 << 10;

	private final UploadProtocol protocol;

	private final Semaphore threads = new Semaphore(THREADS);

	BodyDrainer(UploadProtocol protocol) {
		this.protocol = protocol;
	}

	/**
	 * Drops the rest of a request's body while its answer is written, which may be too
	 * large for a connection whose client only sends.
	 * @param request the request, of which nobody reads any more
	 */
	public static void dropWhileAnswering(HttpServletRequest request) {
		if (request.getAttribute(BEGIN) instanceof Runnable begin) {
			begin.run();
		}
	}

	/** Lets a request begin to drop its body while its answer is written. */
	void offer(Request request) {
		request.setAttribute(BEGIN, (Runnable) () -> begin(request));
	}

	private void begin(Request request) {
		if (!isRead(request) && isOnItsWay(request) && this.threads.tryAcquire()) {
			Dropping dropping = new Dropping(request);
			Thread thread = new Thread(dropping, "unread-body");
			thread.setDaemon(true);
			try {
				thread.start();
				request.setAttribute(DROPPING, dropping);
			}
			catch (OutOfMemoryError ex) {
				// There are no more threads: this one drops the body after the answer.
				this.threads.release();
			}
		}
	}

	/** Drops the rest of a body whose answer has gone out. */
	void drop(Request request) {
		if (request.getAttribute(DROPPING) instanceof Dropping dropping) {
			dropping.await();
		}
		if (isRead(request)) {
			return;
		}
		boolean dropped = false;
		if (request.getAttribute(DROPPING) == null && isOnItsWay(request) && this.threads.tryAcquire()) {
			try {
				dropped = dropInTime(request);
			}
			finally {
				this.threads.release();
			}
		}
		if (!dropped) {
			leave(request);
		}
	}

	/** Lets the connection end without reading any more of a request. */
	static void leave(Request request) {
		request.action(ActionCode.DISABLE_SWALLOW_INPUT, null);
	}

	/** Lets the connection go on only if all of a request was read. */
	static void leaveUnlessRead(Request request) {
		if (!isRead(request)) {
			leave(request);
		}
	}

	private static boolean isRead(Request request) {
		AtomicBoolean read = new AtomicBoolean();
		request.action(ActionCode.REQUEST_BODY_FULLY_READ, read);
		return read.get();
	}

	/** A client that waited for 100 Continue and got an answer may send nothing. */
	private static boolean isOnItsWay(Request request) {
		return !request.hasExpectation() || request.getBytesRead() > 0;
	}

	/**
	 * Drops what comes after a request that could not be parsed, whose body has no known
	 * end: a connection that is closed with bytes unread loses its answer.
	 */
	void drop(SocketWrapperBase<NioChannel> connection) {
		if (this.threads.tryAcquire()) {
			CallerConnection.endOutput(connection);
			try {
				dropInTime(connection.getServletConnection("", "").getConnectionId(),
						(dropped) -> dropped.readFrom(connection));
			}
			finally {
				this.threads.release();
			}
		}
	}

	private boolean dropInTime(Request request) {
		return dropInTime(request.getServletConnection().getConnectionId(), (dropped) -> dropped.readFrom(request));
	}

	private boolean dropInTime(String connectionId, Source source) {
		Dropped dropped = new Dropped();
		Watch watch = new Watch(this.protocol, connectionId, dropped);
		try {
			// Watched from outside, as Tomcat's timeout begins anew with every byte.
			Future<?> watching = this.protocol.getUtilityExecutor()
				.scheduleAtFixedRate(watch, PERIOD_SECONDS, PERIOD_SECONDS, TimeUnit.SECONDS);
			try {
				source.readInto(dropped);
				return true;
			}
			finally {
				watch.end();
				watching.cancel(false);
			}
		}
		catch (IOException | RejectedExecutionException ex) {
			log.debug("The rest of a body did not come", ex);
			return false;
		}
	}

	/** Drops a body while another thread writes the answer. */
	private final class Dropping implements Runnable {

		private final Request request;

		private final CompletableFuture<?> end = new CompletableFuture<>();

		private Dropping(Request request) {
			this.request = request;
		}

		@Override
		public void run() {
			try {
				dropInTime(this.request);
			}
			finally {
				BodyDrainer.this.threads.release();
				this.end.complete(null);
			}
		}

		/** Waits for the end, as the request is used again after it. */
		private void await() {
			AtomicBoolean failed = new AtomicBoolean();
			this.request.action(ActionCode.IS_ERROR, failed);
			if (failed.get()) {
				// Nobody is left to read the answer.
				BodyDrainer.this.protocol.end(this.request.getServletConnection().getConnectionId());
			}
			this.end.join();
		}

	}

	/** Ends the connection's input once too little of a body comes in a period. */
	private static final class Watch implements Runnable {

		private final UploadProtocol protocol;

		private final String connectionId;

		private final Dropped dropped;

		private long seenBytes;

		private int periods;

		private boolean ended;

		private Watch(UploadProtocol protocol, String connectionId, Dropped dropped) {
			this.protocol = protocol;
			this.connectionId = connectionId;
			this.dropped = dropped;
		}

		@Override
		public synchronized void run() {
			long bytes = this.dropped.count - this.seenBytes;
			this.seenBytes += bytes;
			this.periods++;
			if (!this.ended && (bytes < LEAST_BYTES || this.periods >= MOST_PERIODS)) {
				this.protocol.end(this.connectionId);
			}
		}

		/** Ends the watch, since the connection may have another request from now on. */
		private synchronized void end() {
			this.ended = true;
		}

	}

	/** Where bytes to drop come from. */
	private interface Source {

		void readInto(Dropped dropped) throws IOException;

	}

	/** The bytes that are dropped. */
	private static final class Dropped implements ApplicationBufferHandler {

		private volatile long count;

		private ByteBuffer bytes = ByteBuffer.allocate(0);

		/** Reads to the end. */
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
			// Tomcat fills it with a buffer of its own.
		}

	}

}
