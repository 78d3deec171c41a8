package io.pipeset.web;

import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.tomcat.util.net.NioEndpoint;

/**
 * The connections of a web server. When there are as many as it may have, those that have
 * been without a request for longest are closed, so that whoever only holds connections
 * keeps nobody out.
 */
final class UploadEndpoint extends NioEndpoint {

	/** A client that has just connected is about to send its request. */
	private static final long IDLE_MILLIS = 1000;

	private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	/** Of the connections that there may be, the part that is closed at once. */
	private static final int PART = 16;

	@Override
	protected boolean setSocketOptions(SocketChannel socket) {
		boolean taken = super.setSocketOptions(socket);
		// In the thread that accepts, which could not accept the next one anyway.
		while (isFull() && isRunning() && !isPaused()) {
			closeIdle();
			LockSupport.parkNanos(LOOK_NANOS);
		}
		return taken;
	}

	private boolean isFull() {
		return getMaxConnections() > 0 && getConnectionCount() >= getMaxConnections();
	}

	private void closeIdle() {
		long since = System.currentTimeMillis() - IDLE_MILLIS;
		getConnections().stream()
			.filter(NioSocketWrapper.class::isInstance)
			.map((connection) -> new Idle((NioSocketWrapper) connection))
			.filter((idle) -> idle.since <= since && !idle.connection.getLock().isLocked())
			.sorted(Comparator.comparingLong(Idle::since))
			.limit(getMaxConnections() / PART + 1)
			.forEach((idle) -> closeUnlessInUse(idle.connection));
	}

	/** A thread that has a request of the connection holds its lock. */
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

	/** A connection, with the time that it is sorted by, which goes on changing. */
	private record Idle(NioSocketWrapper connection, long since) {

		private Idle(NioSocketWrapper connection) {
			// The head of a request that comes byte by byte is nothing before it is
			// whole.
			this(connection, connection.getLastWrite());
		}

	}

}
