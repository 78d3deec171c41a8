package io.pipeset.web;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.util.function.Predicate;

import org.apache.coyote.http11.Http11NioProtocol;
import org.apache.juli.logging.Log;
import org.apache.juli.logging.LogFactory;
import org.apache.tomcat.util.net.NioChannel;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;
import org.apache.tomcat.util.net.SocketWrapperBase;

/**
 * Tomcat's HTTP, with uploads that can be ended while they pause: the thread that waits
 * for more of one cannot be woken otherwise, and has a report to write.
 */
public final class UploadProtocol extends Http11NioProtocol {

	private static final Log log = LogFactory.getLog(UploadProtocol.class);

	/**
	 * Whether a request is under way, or its client still sends what nobody will read.
	 * @return {@code false} where every answer has gone out
	 */
	boolean isBusy() {
		return getEndpoint().getCurrentThreadsBusy() > 0;
	}

	/**
	 * Ends the input of connections on which nothing comes; their output stays open.
	 * @param idleMillis for how long nothing has come
	 * @param which the ids of those connections, as
	 * {@link jakarta.servlet.ServletConnection#getConnectionId} has them
	 */
	void endPaused(long idleMillis, Predicate<String> which) {
		// Not where something waits to be read: to close over it would reset the
		// connection, and the client might lose the answer.
		long now = System.currentTimeMillis();
		for (SocketWrapperBase<NioChannel> connection : getEndpoint().getConnections()) {
			if (connection instanceof NioSocketWrapper paused && paused.interestOpsHas(SelectionKey.OP_READ)
					&& now - paused.getLastRead() >= idleMillis
					&& which.test(paused.getServletConnection("", "").getConnectionId())) {
				try {
					paused.getSocket().getIOChannel().shutdownInput();
				}
				catch (IOException ex) {
					log.debug("A connection was closed already", ex);
				}
			}
		}
	}

}
