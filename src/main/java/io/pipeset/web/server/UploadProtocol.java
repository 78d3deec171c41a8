package io.pipeset.web.server;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.apache.catalina.connector.Connector;
import org.apache.coyote.Adapter;
import org.apache.coyote.Processor;
import org.apache.coyote.Request;
import org.apache.coyote.Response;
import org.apache.coyote.http11.Http11NioProtocol;
import org.apache.coyote.http11.Http11Processor;
import org.apache.tomcat.util.net.AbstractEndpoint.Handler.SocketState;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;
import org.apache.tomcat.util.net.SocketWrapperBase;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tomcat's HTTP/1.1 protocol. Its requests know their connections, so that the service
 * can end uploads. The class is public because Tomcat creates it by its name.
 */
public final class UploadProtocol extends Http11NioProtocol {

	/** Used instead of Tomcat's logger, which is silent while the process ends. */
	private static final Logger log = LoggerFactory.getLogger(UploadProtocol.class);

	/** The index of the request note with its connection. */
	private static final int CONNECTION = 31;

	private final Semaphore drains = new Semaphore(BodyDrain.MAX_DRAINS);

	private @Nullable Connector connector;

	private RequestGate.Bounds bounds = RequestGate.Bounds.UNLIMITED;

	private final Set<CallerConnection> activeConnections = ConcurrentHashMap.newKeySet();

	private Duration readPeriod = Duration.ofSeconds(5);

	private Duration answerTimeout = Duration.ofSeconds(30);

	private BooleanSupplier memoryIsShort = () -> false;

	/** Whether a request was refused since the last check. */
	private volatile boolean refused;

	private @Nullable Future<?> checks;

	public UploadProtocol() {
		super(new UploadEndpoint());
	}

	/** Sets how long to wait for a caller that reads nothing of its response. */
	void setAnswerTimeout(Duration timeout) {
		this.answerTimeout = timeout;
	}

	/** Sets the period over which the read rate of a response is measured. */
	void setReadPeriod(Duration period) {
		this.readPeriod = period;
	}

	/** Sets a supplier that returns whether jobs wait for memory. */
	void setMemoryShortage(BooleanSupplier isShort) {
		this.memoryIsShort = isShort;
	}

	/** Sets the connector of this protocol. Call this before the server starts. */
	void setConnector(Connector connector) {
		this.connector = connector;
	}

	/** Sets the bounds on requests. Call this before the server starts. */
	void setBounds(RequestGate.Bounds bounds) {
		this.bounds = bounds;
	}

	@Override
	public void setAdapter(Adapter adapter) {
		super.setAdapter(new RequestGate(Objects.requireNonNull(this.connector), this, this.bounds));
	}

	@Override
	protected Processor createProcessor() {
		return new Http11Processor(this, getAdapter()) {

			@Override
			public SocketState service(SocketWrapperBase<?> socket) throws IOException {
				getRequest().setNote(CONNECTION, socket);
				socket.setWriteTimeout(UploadProtocol.this.answerTimeout.toMillis());
				return super.service(socket);
			}

		};
	}

	@Override
	public void start() throws Exception {
		super.start();
		this.checks = getUtilityExecutor().scheduleWithFixedDelay(this::checkConnections, 1, 1, TimeUnit.SECONDS);
	}

	@Override
	public void stop() throws Exception {
		Future<?> checks = this.checks;
		if (checks != null) {
			checks.cancel(false);
		}
		super.stop();
	}

	private void checkConnections() {
		try {
			this.activeConnections.forEach((connection) -> {
				connection.checkCaller();
				connection.drain().check();
			});
			endUnreadAnswers(isPaused() || resetThreadShortage() || this.memoryIsShort.getAsBoolean());
		}
		catch (RuntimeException ex) {
			// An exception would stop all later checks.
			log.error("Cannot check the connections of requests", ex);
		}
	}

	/**
	 * Forgets refusals.
	 * @return whether a request was refused, or at least three quarters of the threads
	 * are in use
	 */
	private boolean resetThreadShortage() {
		boolean refused = this.refused;
		this.refused = false;
		return refused || this.activeConnections.size() * 4L >= getMaxThreads() * 3L;
	}

	/** Records that a request was refused because there was no thread for it. */
	void recordRefusal() {
		this.refused = true;
	}

	/**
	 * Measures how fast responses are read, and ends the connections of slow callers if
	 * needed. Call this once a second.
	 * @param needed whether other requests need the threads or memory of slow callers
	 */
	void endUnreadAnswers(boolean needed) {
		List<CallerConnection> unread = this.activeConnections.stream()
			.filter(CallerConnection::updateReadRate)
			.toList();
		if (needed && !unread.isEmpty()) {
			log.warn("Answers were read too slowly while other requests needed their threads or memory, or while the"
					+ " service shut down: ended {} connections", unread.size());
			unread.forEach(CallerConnection::end);
		}
	}

	/**
	 * Adds the connection of a request that begins.
	 * @return the connection, to be removed when the request ends
	 */
	CallerConnection addConnection(Request request, Response response) {
		NioSocketWrapper socket = (NioSocketWrapper) request.getNote(CONNECTION);
		CallerConnection connection = new CallerConnection(socket, response, this.readPeriod,
				new BodyDrain(request, socket, this.drains));
		this.activeConnections.add(connection);
		return connection;
	}

	/** The connections of the requests in progress. */
	Set<CallerConnection> activeConnections() {
		return this.activeConnections;
	}

}
