package io.pipeset.web.server;

import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.tomcat.util.net.NioEndpoint;

/**
 * The connections of a web server. If they reach their maximum number, the connections
 * that have been idle for longest are closed, so that other clients can connect.
 */
final class UploadEndpoint extends NioEndpoint {

	/**
	 * A connection that is idle for less time stays open, because a client that has just
	 * connected is about to send its request.
	 */
	private static final long MIN_IDLE_MILLIS = 1000;

	private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	/** One in this many of the allowed connections is closed at once. */
	private static final int CLOSED_PART = 16;

	@Override
	protected boolean setSocketOptions(SocketChannel socket) {
		boolean accepted = super.setSocketOptions(socket);
		// This blocks the thread that accepts connections, which could accept none now.
		while (isFull() && isRunning() && !isPaused()) {
			closeIdle();
			LockSupport.parkNanos(CHECK_NANOS);
		}
		return accepted;
	}

	private boolean isFull() {
		return getMaxConnections() > 0 && getConnectionCount() >= getMaxConnections();
	}

	private void closeIdle() {
		long since = System.currentTimeMillis() - MIN_IDLE_MILLIS;
		getConnections().stream()
			.filter(NioSocketWrapper.class::isInstance)
			.map((connection) -> new Idle((NioSocketWrapper) connection))
			.filter((idle) -> idle.since <= since && !idle.connection.getLock().isLocked())
			.sorted(Comparator.comparingLong(Idle::since))
			.limit(getMaxConnections() / CLOSED_PART + 1)
			.forEach((idle) -> closeUnlessInUse(idle.connection));
	}

	/** Closes a connection. A thread that serves its request holds its lock. */
	private static void closeUnlessInUse(NioSocketWrapper connection) {
		ReentrantLock lock = connection.getLock();
		if (lock.tryLock()) {
			try {
				if (connection.interestOpsHas(SelectionKey.OP_READ)) {
					connection.close();
				}
			}
			finally {
				lock.unlock();
			}
		}
	}

	/** A connection and its last write, read only once because it changes meanwhile. */
	private record Idle(NioSocketWrapper connection, long since) {

		private Idle(NioSocketWrapper connection) {
			// Not the last read, because the head of a request may arrive byte by byte.
			this(connection, connection.getLastWrite());
		}

	}

}
