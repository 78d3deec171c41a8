package io.pipeset.web.server;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.apache.coyote.Adapter;
import org.apache.coyote.Processor;
import org.apache.coyote.Response;
import org.apache.coyote.http11.Http11NioProtocol;
import org.apache.coyote.http11.Http11Processor;
import org.apache.tomcat.util.net.AbstractEndpoint.Handler.SocketState;
import org.apache.tomcat.util.net.NioChannel;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;
import org.apache.tomcat.util.net.SocketWrapperBase;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tomcat's HTTP, with requests that know their connection, so that uploads can be ended.
 * Public, as Tomcat makes it by its name.
 */
public final class UploadProtocol extends Http11NioProtocol {

	/** Not Tomcat's, which is silent while the process ends. */
	private static final Logger log = LoggerFactory.getLogger(UploadProtocol.class);

	/** The note of a request that has its connection. */
	static final int CONNECTION = 31;

	private RequestGate.Bounds bounds = RequestGate.Bounds.NONE;

	private final Set<CallerConnection> underWay = ConcurrentHashMap.newKeySet();

	private Duration readingPeriod = Duration.ofSeconds(5);

	private Duration answerTimeout = Duration.ofSeconds(30);

	private BooleanSupplier memoryIsShort = () -> false;

	/** Whether a request was refused since the last look. */
	private volatile boolean refused;

	private @Nullable Future<?> looks;

	public UploadProtocol() {
		super(new UploadEndpoint());
	}

	/** Sets how long nothing of an answer may be read before it is given up. */
	void setAnswerTimeout(Duration timeout) {
		this.answerTimeout = timeout;
	}

	/** Sets the period in which the reading of an answer is looked at. */
	void setReadingPeriod(Duration period) {
		this.readingPeriod = period;
	}

	/** Sets who tells that jobs wait for memory. */
	void setMemory(BooleanSupplier isShort) {
		this.memoryIsShort = isShort;
	}

	/** Sets the bounds on requests, before the server starts. */
	void setBounds(RequestGate.Bounds bounds) {
		this.bounds = bounds;
	}

	@Override
	public void setAdapter(Adapter adapter) {
		super.setAdapter(new RequestGate(adapter, new BodyDrainer(this), this.bounds, this));
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
		try {
			this.underWay.forEach(CallerConnection::look);
			endUnreadAnswers(isPaused() || isShortOfThreads() || this.memoryIsShort.getAsBoolean());
		}
		catch (RuntimeException ex) {
			// Or nobody would look from now on.
			log.error("The connections of requests could not be looked at", ex);
		}
	}

	private boolean isShortOfThreads() {
		boolean refused = this.refused;
		this.refused = false;
		return refused || this.underWay.size() * 4L >= getMaxThreads() * 3L;
	}

	/** There was no thread for a request. */
	void refused() {
		this.refused = true;
	}

	/**
	 * Ends the connections whose answers are read too slowly. To be called once a second.
	 * @param needed whether others need what such an answer holds
	 */
	void endUnreadAnswers(boolean needed) {
		List<CallerConnection> unread = this.underWay.stream().filter(CallerConnection::isReadTooSlowly).toList();
		if (needed && !unread.isEmpty()) {
			log.warn("Answers were read too slowly while others needed their threads or memory, or the service was to"
					+ " end: {} connections were ended", unread.size());
			unread.forEach(CallerConnection::end);
		}
	}

	/**
	 * A request begins.
	 * @return the connection, to be taken from those under way when the request ends
	 */
	CallerConnection begin(NioSocketWrapper socket, Response response) {
		CallerConnection connection = new CallerConnection(socket, response, this.readingPeriod);
		this.underWay.add(connection);
		return connection;
	}

	/** The connections of the requests that are under way. */
	Set<CallerConnection> underWay() {
		return this.underWay;
	}

	/**
	 * Whether a request is under way, or its client still sends a body that nobody reads.
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
