package io.pipeset.web.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.regex.Pattern;

import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import org.apache.coyote.ActionCode;
import org.apache.coyote.Adapter;
import org.apache.coyote.Request;
import org.apache.coyote.Response;
import org.apache.tomcat.util.net.NioEndpoint.NioSocketWrapper;
import org.apache.tomcat.util.net.SocketEvent;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;

/**
 * The way of requests into the service. Some threads of the web server are kept for
 * Actuator, and most of them are kept for all others: a request that would take one of
 * the wrong kind is answered 429 at once. The rest of a body is dropped after its answer,
 * but never by a thread that serves Actuator.
 */
final class RequestGate implements Adapter {

	private final Adapter service;

	private final BodyDrainer unread;

	private final Bounds bounds;

	/** The threads that each kind of requests may take, its own ones first. */
	private final List<Semaphore> ofActuator;

	private final List<Semaphore> ofOthers;

	private final UploadProtocol protocol;

	RequestGate(Adapter service, BodyDrainer unread, Bounds bounds, UploadProtocol protocol) {
		this.service = service;
		this.unread = unread;
		this.bounds = bounds;
		this.protocol = protocol;
		Semaphore shared = new Semaphore(bounds.shared);
		this.ofActuator = List.of(new Semaphore(bounds.actuator), shared);
		this.ofOthers = List.of(new Semaphore(bounds.others), shared);
	}

	@Override
	public void service(Request request, Response response) throws Exception {
		NioSocketWrapper socket = (NioSocketWrapper) request.getNote(UploadProtocol.CONNECTION);
		CallerConnection connection = this.protocol.begin(socket, response);
		request.setAttribute(CallerConnection.ATTRIBUTE, connection);
		try {
			pass(request, response);
		}
		finally {
			this.protocol.underWay().remove(connection);
		}
	}

	private void pass(Request request, Response response) throws Exception {
		// A request that is not HTTP has no path.
		String path = request.requestURI().toString();
		boolean actuator = path != null && this.bounds.path.matcher(path).matches();
		for (Semaphore threads : (actuator) ? this.ofActuator : this.ofOthers) {
			if (threads.tryAcquire()) {
				try {
					serve(request, response, actuator);
				}
				finally {
					threads.release();
				}
				return;
			}
		}
		refuse(request, response, actuator);
	}

	private void serve(Request request, Response response, boolean actuator) throws Exception {
		// Tomcat could not parse the request, and lets only the answer be written.
		boolean refused = response.getStatus() >= HttpStatus.BAD_REQUEST.value();
		if (actuator) {
			this.service.service(request, response);
			// A body that is dropped must not take a thread that is kept.
			BodyDrainer.leaveUnlessRead(request);
		}
		else {
			this.unread.offer(request);
			try {
				this.service.service(request, response);
			}
			finally {
				this.unread.drop(request);
			}
		}
		if (refused && request.getNote(UploadProtocol.CONNECTION) instanceof NioSocketWrapper socket) {
			this.unread.drop(socket);
		}
	}

	private void refuse(Request request, Response response, boolean actuator) throws IOException {
		this.protocol.refused();
		byte[] body = Problems.json(Problems.detail(Problem.TOO_MANY,
				"There are " + this.bounds.most(actuator) + ((actuator) ? " requests to Actuator" : " requests")
						+ " under way, as many as server.tomcat.threads.max=" + this.bounds.threads()
						+ " allows: send the request again later"))
			.getBytes(StandardCharsets.UTF_8);
		response.setStatus(Problem.TOO_MANY.status().value());
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		response.setContentLength(body.length);
		response.setHeader(HttpHeaders.RETRY_AFTER, Integer.toString(Problem.TOO_MANY.retryAfterSeconds()));
		response.setHeader(HttpHeaders.CONNECTION, "close");
		BodyDrainer.leave(request);
		response.doWrite(ByteBuffer.wrap(body));
		response.action(ActionCode.CLOSE, null);
	}

	@Override
	public boolean prepare(Request request, Response response) throws Exception {
		return this.service.prepare(request, response);
	}

	@Override
	public boolean asyncDispatch(Request request, Response response, SocketEvent status) throws Exception {
		return this.service.asyncDispatch(request, response, status);
	}

	@Override
	public void log(Request request, Response response, long time) {
		this.service.log(request, response, time);
	}

	@Override
	public void checkRecycled(Request request, Response response) {
		this.service.checkRecycled(request, response);
	}

	@Override
	public String getDomain() {
		return this.service.getDomain();
	}

	/**
	 * The bounds on the requests of a web server, as numbers of its threads.
	 *
	 * @param actuator those that only requests to Actuator may take
	 * @param shared those that any request may take
	 * @param others those that only other requests may take
	 * @param path the paths of Actuator, as they come over the wire
	 */
	record Bounds(int actuator, int shared, int others, Pattern path) {

		/** A server whose requests all count as Actuator's, and all pass. */
		static final Bounds NONE = new Bounds(Integer.MAX_VALUE, 0, 0, Pattern.compile(".*"));

		private int most(boolean actuator) {
			return this.shared + ((actuator) ? this.actuator : this.others);
		}

		private int threads() {
			return this.actuator + this.shared + this.others;
		}

	}

}
