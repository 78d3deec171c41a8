package io.pipeset.web.server;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import org.apache.coyote.Adapter;
import org.apache.coyote.Processor;
import org.apache.coyote.http11.Http11NioProtocol;
import org.apache.coyote.http11.Http11Processor;
import org.apache.juli.logging.Log;
import org.apache.juli.logging.LogFactory;
import org.apache.tomcat.util.net.AbstractEndpoint.Handler.SocketState;
import org.apache.tomcat.util.net.NioChannel;
import org.apache.tomcat.util.net.SocketWrapperBase;
import org.jspecify.annotations.Nullable;

/**
 * Tomcat's HTTP, with requests that know their connection, so that uploads can be ended.
 * Public, as Tomcat makes it by its name.
 */
public final class UploadProtocol extends Http11NioProtocol {

	private static final Log log = LogFactory.getLog(UploadProtocol.class);

	/** The note of a request that has its connection. */
	static final int CONNECTION = 31;

	private RequestGate.Bounds bounds = RequestGate.Bounds.NONE;

	private final Set<CallerConnection> underWay = ConcurrentHashMap.newKeySet();

	private @Nullable Future<?> looks;

	public UploadProtocol() {
		super(new UploadEndpoint());
	}

	/** Sets the bounds on requests, before the server starts. */
	void setBounds(RequestGate.Bounds bounds) {
		this.bounds = bounds;
	}

	@Override
	public void setAdapter(Adapter adapter) {
		super.setAdapter(new RequestGate(adapter, new UnreadBodies(this), this.bounds, this.underWay));
	}

	@Override
	protected Processor createProcessor() {
		return new Http11Processor(this, getAdapter()) {

			@Override
			public SocketState service(SocketWrapperBase<?> socket) throws IOException {
				getRequest().setNote(CONNECTION, socket);
				return super.service(socket);
			}

		};
	}

	@Override
	public void start() throws Exception {
		super.start();
		this.looks = getUtilityExecutor().scheduleWithFixedDelay(this::look, 1, 1, TimeUnit.SECONDS);
	}

	@Override
	public void stop() throws Exception {
		Future<?> looks = this.looks;
		if (looks != null) {
			looks.cancel(false);
		}
		super.stop();
	}

	private void look() {
		for (CallerConnection connection : this.underWay) {
			try {
				connection.look();
			}
			catch (RuntimeException ex) {
				// Or nobody would be looked for from now on.
				log.error("The connection of a request could not be looked at", ex);
			}
		}
	}

	/** The connections of the requests that are under way. */
	Set<CallerConnection> underWay() {
		return this.underWay;
	}

	/**
	 * Whether a request is under way, or its client still sends a body that nobody reads.
	 * @return {@code false} where every answer has gone out
	 */
	boolean isBusy() {
		return getEndpoint().getCurrentThreadsBusy() > 0;
	}

	/**
	 * Ends the input of a connection, even if something comes on it.
	 * @param connectionId its id, as
	 * {@link jakarta.servlet.ServletConnection#getConnectionId} has it
	 */
	void end(String connectionId) {
		for (SocketWrapperBase<NioChannel> connection : getEndpoint().getConnections()) {
			if (connection.getServletConnection("", "").getConnectionId().equals(connectionId)) {
				CallerConnection.endInput(connection);
			}
		}
	}

}
