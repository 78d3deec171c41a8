package io.pipeset.web.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.regex.Pattern;

import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.connector.CoyoteAdapter;
import org.apache.coyote.ActionCode;
import org.apache.coyote.Request;
import org.apache.coyote.Response;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;

/**
 * Admits requests to the service, or refuses them. Some threads of the web server are
 * reserved for Actuator, and most are reserved for all other requests. If a request finds
 * no free thread of its kind, it is answered 429 at once. The rest of a body is drained
 * after the response, but never by a thread that serves Actuator.
 */
final class RequestGate extends CoyoteAdapter {

	private final Bounds bounds;

	/** The threads for requests to Actuator: first the reserved ones, then the shared. */
	private final List<Semaphore> actuatorThreads;

	/** The threads for other requests: first the reserved ones, then the shared. */
	private final List<Semaphore> otherThreads;

	private final UploadProtocol protocol;

	RequestGate(Connector connector, UploadProtocol protocol, Bounds bounds) {
		super(connector);
		this.bounds = bounds;
		this.protocol = protocol;
		Semaphore shared = new Semaphore(bounds.shared);
		this.actuatorThreads = List.of(new Semaphore(bounds.actuator), shared);
		this.otherThreads = List.of(new Semaphore(bounds.others), shared);
	}

	@Override
	public void service(Request request, Response response) throws Exception {
		CallerConnection connection = this.protocol.addConnection(request, response);
		request.setAttribute(CallerConnection.ATTRIBUTE, connection);
		try {
			admit(request, response, connection);
		}
		finally {
			this.protocol.activeConnections().remove(connection);
		}
	}

	private void admit(Request request, Response response, CallerConnection connection) throws Exception {
		// If Tomcat could not parse the request, it has no path.
		String path = request.requestURI().toString();
		boolean actuator = path != null && this.bounds.path.matcher(path).matches();
		for (Semaphore threads : (actuator) ? this.actuatorThreads : this.otherThreads) {
			if (threads.tryAcquire()) {
				try {
					serve(request, response, actuator, connection);
				}
				finally {
					threads.release();
				}
				return;
			}
		}
		refuse(request, response, actuator);
	}

	private void serve(Request request, Response response, boolean actuator, CallerConnection connection)
			throws Exception {
		// An error status here means that Tomcat could not parse the request. Tomcat lets
		// the service only write the response.
		boolean unparsed = response.getStatus() >= HttpStatus.BAD_REQUEST.value();
		try {
			super.service(request, response);
		}
		finally {
			connection.releaseMemory();
			// Draining a body must not occupy a thread of Actuator.
			if (!actuator) {
				connection.drain().finish();
			}
			if (!BodyDrain.isFullyRead(request)) {
				closeAfterResponse(request);
			}
		}
		if (unparsed) {
			connection.drain().drainConnection();
		}
	}

	/** Makes Tomcat close the connection, and read no more of the request. */
	private static void closeAfterResponse(Request request) {
		request.action(ActionCode.DISABLE_SWALLOW_INPUT, null);
	}

	private void refuse(Request request, Response response, boolean actuator) throws IOException {
		this.protocol.recordRefusal();
		byte[] body = Problems.json(Problems.detail(Problem.TOO_MANY,
				"There are " + this.bounds.max(actuator) + ((actuator) ? " requests to Actuator" : " requests")
						+ " under way, as many as server.tomcat.threads.max=" + this.bounds.threads()
						+ " allows: send the request again later"))
			.getBytes(StandardCharsets.UTF_8);
		response.setStatus(Problem.TOO_MANY.status().value());
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		response.setContentLength(body.length);
		response.setHeader(HttpHeaders.RETRY_AFTER, Integer.toString(Problem.TOO_MANY.retryAfterSeconds()));
		response.setHeader(HttpHeaders.CONNECTION, "close");
		closeAfterResponse(request);
		response.doWrite(ByteBuffer.wrap(body));
		response.action(ActionCode.CLOSE, null);
	}

	/**
	 * The bounds on the concurrent requests of a web server, as numbers of threads.
	 *
	 * @param actuator the threads that only requests to Actuator may use
	 * @param shared the threads that any request may use
	 * @param others the threads that only other requests may use
	 * @param path matches the paths of Actuator, before they are decoded
	 */
	record Bounds(int actuator, int shared, int others, Pattern path) {

		/** Admits all requests, and counts them as requests to Actuator. */
		static final Bounds UNLIMITED = new Bounds(Integer.MAX_VALUE, 0, 0, Pattern.compile(".*"));

		private int max(boolean actuator) {
			return this.shared + ((actuator) ? this.actuator : this.others);
		}

		private int threads() {
			return this.actuator + this.shared + this.others;
		}

	}

}
