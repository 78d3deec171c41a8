package io.pipeset.web.server;

import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.tomcat.util.net.NioEndpoint;

/**
 * The connections of a web server. When there are as many as allowed, those that have
 * been without a request for longest are closed, so that idle connections keep nobody
 * out.
 */
final class UploadEndpoint extends NioEndpoint {

	/** A client that has just connected is about to send its request. */
	private static final long IDLE_MILLIS = 1000;

	private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	/** One in so many of the connections allowed is closed at once. */
	private static final int PART = 16;

	@Override
	protected boolean setSocketOptions(SocketChannel socket) {
		boolean taken = super.setSocketOptions(socket);
		// In the thread that accepts connections, which could not accept another anyway.
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

	/** The thread that runs a request of the connection holds its lock. */
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

	/** A connection and the time to sort it by, taken once as it goes on changing. */
	private record Idle(NioSocketWrapper connection, long since) {

		private Idle(NioSocketWrapper connection) {
			// The last write, as the head of a request may come byte by byte.
			this(connection, connection.getLastWrite());
		}

	}

}
