package io.pipeset.web.server;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.function.Predicate;

import org.apache.coyote.Adapter;
import org.apache.coyote.http11.Http11NioProtocol;
import org.apache.juli.logging.Log;
import org.apache.juli.logging.LogFactory;
import org.apache.tomcat.util.net.NioChannel;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;
import org.apache.tomcat.util.net.SocketWrapperBase;

/**
 * Tomcat's HTTP, with uploads that can be ended. A thread that waits for more of an
 * upload cannot be woken in any other way, and has a report to write. Public, as Tomcat
 * makes it by its name.
 */
public final class UploadProtocol extends Http11NioProtocol {

	private static final Log log = LogFactory.getLog(UploadProtocol.class);

	private RequestGate.Bounds bounds = RequestGate.Bounds.NONE;

	public UploadProtocol() {
		super(new UploadEndpoint());
	}

	/** Sets the bounds on requests, before the server starts. */
	void setBounds(RequestGate.Bounds bounds) {
		this.bounds = bounds;
	}

	@Override
	public void setAdapter(Adapter adapter) {
		super.setAdapter(new RequestGate(adapter, new UnreadBodies(this), this.bounds));
	}

	/**
	 * Whether a request is under way, or its client still sends a body that nobody reads.
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
		// A connection with bytes to be read is left alone: closing it would reset it,
		// and the client might lose the answer.
		long now = System.currentTimeMillis();
		for (SocketWrapperBase<NioChannel> connection : getEndpoint().getConnections()) {
			if (connection instanceof NioSocketWrapper paused && paused.interestOpsHas(SelectionKey.OP_READ)
					&& now - paused.getLastRead() >= idleMillis && which.test(id(paused))) {
				end(paused);
			}
		}
	}

	/**
	 * Ends the input of a connection, even if something comes on it.
	 * @param connectionId its id, as {@link #endPaused} has it
	 */
	void end(String connectionId) {
		for (SocketWrapperBase<NioChannel> connection : getEndpoint().getConnections()) {
			if (id(connection).equals(connectionId)) {
				end(connection);
			}
		}
	}

	private static String id(SocketWrapperBase<NioChannel> connection) {
		return connection.getServletConnection("", "").getConnectionId();
	}

	private static void end(SocketWrapperBase<NioChannel> connection) {
		try {
			SocketChannel channel = connection.getSocket().getIOChannel();
			if (channel != null) {
				channel.shutdownInput();
			}
		}
		catch (IOException ex) {
			log.debug("A connection was closed already", ex);
		}
	}

}
