package io.pipeset.web.server;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import io.pipeset.job.input.Caller;
import jakarta.servlet.http.HttpServletRequest;
import org.apache.coyote.Response;
import org.apache.juli.logging.Log;
import org.apache.juli.logging.LogFactory;
import org.apache.tomcat.util.net.NioChannel;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;
import org.apache.tomcat.util.net.SecureNioChannel;
import org.apache.tomcat.util.net.SocketBufferHandler;
import org.apache.tomcat.util.net.SocketWrapperBase;
import org.jspecify.annotations.Nullable;

/**
 * The connection of a request that is under way. A thread that waits for its caller
 * cannot be woken in Tomcat, and has a report to write: so one direction of the
 * connection is ended.
 */
public final class CallerConnection implements Caller {

	/** The attribute of a request that has its connection. */
	static final String ATTRIBUTE = CallerConnection.class.getName();

	private static final Log log = LogFactory.getLog(CallerConnection.class);

	private final NioSocketWrapper socket;

	private final Response response;

	private final ReadRate pace;

	/** Is held by whoever reads. */
	private final Lock reading = new ReentrantLock();

	private volatile @Nullable Runnable gone;

	private volatile boolean ended;

	/**
	 * A connection.
	 * @param period the period in which the reading of the answer is looked at
	 */
	CallerConnection(NioSocketWrapper socket, Response response, Duration period) {
		this.socket = socket;
		this.response = response;
		this.pace = new ReadRate(period);
	}

	/**
	 * The caller of a request.
	 * @param request a request that is under way
	 * @return the caller; nobody where the request shares its connection with others
	 */
	public static Caller of(HttpServletRequest request) {
		return (request.getAttribute(ATTRIBUTE) instanceof CallerConnection connection) ? connection : SERVICE;
	}

	/**
	 * Is held while the body of a request is read.
	 * @param request a request that is under way
	 */
	static Lock reading(HttpServletRequest request) {
		return (of(request) instanceof CallerConnection connection) ? connection.reading : new ReentrantLock();
	}

	@Override
	public Watch watch(Runnable gone) {
		this.gone = gone;
		return this::watchNoMore;
	}

	private void watchNoMore() {
		// The thread of the request may read next, and the next request from now on.
		this.reading.lock();
		try {
			this.gone = null;
		}
		finally {
			this.reading.unlock();
		}
	}

	/** Looks whether the caller is still there, if it is watched. */
	void look() {
		if (this.gone == null || !this.reading.tryLock()) {
			return;
		}
		try {
			Runnable gone = this.gone;
			if (gone != null && isGone()) {
				this.gone = null;
				gone.run();
			}
		}
		finally {
			this.reading.unlock();
		}
	}

	/**
	 * Whether the input has ended. Bytes ahead of the end stay in Tomcat's buffer for
	 * whoever reads next; behind more than it takes, the end cannot be seen.
	 */
	private boolean isGone() {
		NioChannel channel = this.socket.getSocket();
		SocketBufferHandler buffers = this.socket.getSocketBufferHandler();
		buffers.configureReadBufferForWrite();
		ByteBuffer ahead = buffers.getReadBuffer();
		// TLS has to have room for a whole record.
		boolean room = (channel instanceof SecureNioChannel) ? ahead.position() == 0 : ahead.hasRemaining();
		try {
			return room && channel.read(ahead) < 0;
		}
		catch (IOException ex) {
			return true;
		}
	}

	/**
	 * Whether a thread waits for the caller, which reads its answer too slowly. To be
	 * asked once a second at least.
	 * @return {@code false} as long as nobody waits, and in the first period
	 */
	boolean isReadTooSlowly() {
		return this.response.isCommitted() && this.pace.isSlow(System.nanoTime(), this.response.getContentWritten())
				&& !this.ended && this.socket.interestOpsHas(SelectionKey.OP_WRITE);
	}

	/**
	 * Ends the connection if its answer is read too slowly, as others need what it holds.
	 * @return whether it was ended
	 */
	public boolean endIfReadTooSlowly() {
		boolean slow = isReadTooSlowly();
		if (slow) {
			end();
		}
		return slow;
	}

	/** Ends the connection, and wakes the thread that reads or writes. */
	void end() {
		this.ended = true;
		endInput(this.socket);
		try {
			SocketChannel channel = this.socket.getSocket().getIOChannel();
			if (channel != null) {
				// Or the kernel would keep what was not read.
				channel.setOption(StandardSocketOptions.SO_LINGER, 0);
				channel.shutdownOutput();
			}
		}
		catch (IOException ex) {
			log.debug("A connection was closed already", ex);
		}
	}

	@Override
	public void endInputIfPaused(Duration idle) {
		// A connection with bytes to be read is left alone: closing it would reset it,
		// and the client might lose the answer.
		if (this.socket.interestOpsHas(SelectionKey.OP_READ)
				&& System.currentTimeMillis() - this.socket.getLastRead() >= idle.toMillis()) {
			endInput(this.socket);
		}
	}

	/** Tells a client without TLS that its answer is complete; its input goes on. */
	static void endOutput(SocketWrapperBase<NioChannel> socket) {
		try {
			SocketChannel channel = socket.getSocket().getIOChannel();
			if (channel != null && !(socket.getSocket() instanceof SecureNioChannel)) {
				channel.shutdownOutput();
			}
		}
		catch (IOException ex) {
			log.debug("A connection was closed already", ex);
		}
	}

	/** Ends the input of a connection, even if something comes on it. */
	static void endInput(SocketWrapperBase<NioChannel> socket) {
		try {
			SocketChannel channel = socket.getSocket().getIOChannel();
			if (channel != null) {
				channel.shutdownInput();
			}
		}
		catch (IOException ex) {
			log.debug("A connection was closed already", ex);
		}
	}

}
