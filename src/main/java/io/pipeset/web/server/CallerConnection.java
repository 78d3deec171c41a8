package io.pipeset.web.server;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import io.pipeset.job.input.Caller;
import jakarta.servlet.http.HttpServletRequest;
import org.apache.juli.logging.Log;
import org.apache.juli.logging.LogFactory;
import org.apache.tomcat.util.net.NioChannel;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;
import org.apache.tomcat.util.net.SocketWrapperBase;

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

	CallerConnection(NioSocketWrapper socket) {
		this.socket = socket;
	}

	/**
	 * The caller of a request.
	 * @param request a request that is under way
	 * @return the caller; nobody where the request shares its connection with others
	 */
	public static Caller of(HttpServletRequest request) {
		return (request.getAttribute(ATTRIBUTE) instanceof CallerConnection connection) ? connection : NOBODY;
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
