package io.pipeset.web.server;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import io.pipeset.input.Caller;
import io.pipeset.memory.MemoryShare;
import jakarta.servlet.http.HttpServletRequest;
import org.apache.coyote.CloseNowException;
import org.apache.coyote.Response;
import org.apache.juli.logging.Log;
import org.apache.juli.logging.LogFactory;
import org.apache.tomcat.util.net.NioChannel;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;
import org.apache.tomcat.util.net.SecureNioChannel;
import org.apache.tomcat.util.net.SocketBufferHandler;
import org.jspecify.annotations.Nullable;

/**
 * The connection of a request in progress. Tomcat has no way to wake a thread that waits
 * for its caller. The service wakes it by ending one direction of the connection, so that
 * the thread can still write its report.
 */
public final class CallerConnection implements Caller {

	/** The request attribute with its connection. */
	static final String ATTRIBUTE = CallerConnection.class.getName();

	private static final Log log = LogFactory.getLog(CallerConnection.class);

	private final NioSocketWrapper socket;

	private final Response response;

	private final Rate readRate;

	private final BodyDrain drain;

	/** Held while a thread reads from the connection. */
	private final Lock readLock = new ReentrantLock();

	private volatile @Nullable Runnable onDisconnect;

	private volatile boolean ended;

	/** The memory of the report that is the response. */
	private @Nullable MemoryShare memory;

	/**
	 * Creates the connection of a request.
	 * @param period the period over which the read rate of the response is measured
	 */
	CallerConnection(NioSocketWrapper socket, Response response, Duration period, BodyDrain drain) {
		this.socket = socket;
		this.response = response;
		this.readRate = new Rate(period);
		this.drain = drain;
	}

	/**
	 * Returns the caller of a request.
	 * @param request a request in progress
	 * @return the caller; {@link Caller#SERVICE} if the request has no connection of its
	 * own
	 */
	public static Caller of(HttpServletRequest request) {
		return (request.getAttribute(ATTRIBUTE) instanceof CallerConnection connection) ? connection : SERVICE;
	}

	/**
	 * Drains the rest of a request's body in another thread while the response is
	 * written.
	 * @param request a request whose body has no reader any more
	 */
	public static void drainWhileAnswering(HttpServletRequest request) {
		if (of(request) instanceof CallerConnection connection) {
			connection.drain.start();
		}
	}

	/** Keeps memory until the response to a request is written. */
	public static void closeWhenWritten(HttpServletRequest request, MemoryShare memory) {
		if (of(request) instanceof CallerConnection connection) {
			connection.memory = memory;
		}
	}

	/**
	 * Creates an exception that makes the web server close the connection, so that a
	 * response that has begun looks incomplete. The web server does not log it as an
	 * error.
	 * @param cause why the response cannot be finished
	 */
	public static IOException endAnswer(IOException cause) {
		return new CloseNowException("The answer cannot be finished", cause);
	}

	/**
	 * Returns the lock to hold while the body of a request is read.
	 * @param request a request in progress
	 */
	static Lock readLock(HttpServletRequest request) {
		return (of(request) instanceof CallerConnection connection) ? connection.readLock : new ReentrantLock();
	}

	@Override
	public Watch watch(Runnable gone) {
		this.onDisconnect = gone;
		return this::endWatch;
	}

	private void endWatch() {
		// Waits for a check in progress, because the thread of this request or of the
		// next one may read from now on.
		this.readLock.lock();
		try {
			this.onDisconnect = null;
		}
		finally {
			this.readLock.unlock();
		}
	}

	/** Checks whether the caller is still connected, if it is watched. */
	void checkCaller() {
		if (this.onDisconnect == null || !this.readLock.tryLock()) {
			return;
		}
		try {
			Runnable onDisconnect = this.onDisconnect;
			if (onDisconnect != null && readAhead()) {
				this.onDisconnect = null;
				onDisconnect.run();
			}
		}
		finally {
			this.readLock.unlock();
		}
	}

	/**
	 * Reads available bytes into Tomcat's buffer, where the next reader finds them. If
	 * the buffer is full, the end of the input cannot be seen.
	 * @return whether the input has ended
	 */
	private boolean readAhead() {
		NioChannel channel = this.socket.getSocket();
		SocketBufferHandler buffers = this.socket.getSocketBufferHandler();
		buffers.configureReadBufferForWrite();
		ByteBuffer buffer = buffers.getReadBuffer();
		// TLS needs space for a whole record.
		boolean hasSpace = (channel instanceof SecureNioChannel) ? buffer.position() == 0 : buffer.hasRemaining();
		try {
			return hasSpace && channel.read(buffer) < 0;
		}
		catch (IOException ex) {
			return true;
		}
	}

	/**
	 * Measures how fast the caller reads the response. Call this at least once a second.
	 * @return whether the caller reads too slowly and a thread waits for it;
	 * {@code false} during the first period
	 */
	boolean updateReadRate() {
		return this.response.isCommitted() && this.readRate.update(System.nanoTime(), this.response.getContentWritten())
				&& !this.ended && this.socket.interestOpsHas(SelectionKey.OP_WRITE);
	}

	/**
	 * Ends the connection if the caller reads the response too slowly. Use this if other
	 * requests need the thread, memory or permit of this one.
	 * @return whether the connection was ended
	 */
	public boolean endIfReadTooSlowly() {
		boolean slow = updateReadRate();
		if (slow) {
			end();
		}
		return slow;
	}

	/** Releases what is kept until the response is written. */
	void releaseMemory() {
		if (this.memory != null) {
			this.memory.close();
		}
	}

	BodyDrain drain() {
		return this.drain;
	}

	/** Ends both directions, which wakes a thread that reads or writes. */
	void end() {
		this.ended = true;
		change(this.socket, (channel) -> {
			channel.shutdownInput();
			// Otherwise the kernel would keep the bytes that the caller has not read.
			channel.setOption(StandardSocketOptions.SO_LINGER, 0);
			channel.shutdownOutput();
		});
	}

	@Override
	public void endInputIfPaused(Duration idle) {
		// A connection with unread bytes stays open. Closing it would reset it, and the
		// client might lose the response.
		if (this.socket.interestOpsHas(SelectionKey.OP_READ)
				&& System.currentTimeMillis() - this.socket.getLastRead() >= idle.toMillis()) {
			endInput(this.socket);
		}
	}

	/**
	 * Ends the output of a connection, unless it uses TLS. The client then knows that the
	 * response is complete. The input stays open.
	 */
	static void endOutput(NioSocketWrapper socket) {
		if (!(socket.getSocket() instanceof SecureNioChannel)) {
			change(socket, SocketChannel::shutdownOutput);
		}
	}

	/** Ends the input of a connection, even if bytes still arrive. */
	static void endInput(NioSocketWrapper socket) {
		change(socket, SocketChannel::shutdownInput);
	}

	private static void change(NioSocketWrapper socket, Change change) {
		try {
			SocketChannel channel = socket.getSocket().getIOChannel();
			if (channel != null) {
				change.apply(channel);
			}
		}
		catch (IOException ex) {
			log.debug("A connection was closed already", ex);
		}
	}

	/** A change of a channel. */
	private interface Change {

		void apply(SocketChannel channel) throws IOException;

	}

}
