package io.pipeset.web.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.regex.Pattern;

import io.pipeset.web.problem.Problems;
import org.apache.coyote.ActionCode;
import org.apache.coyote.Adapter;
import org.apache.coyote.Request;
import org.apache.coyote.Response;
import org.apache.tomcat.util.buf.MessageBytes;
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

	private final UnreadBodies unread;

	private final Bounds bounds;

	/** The threads that each kind of requests may take, its own ones first. */
	private final List<Semaphore> ofActuator;

	private final List<Semaphore> ofOthers;

	private final UploadProtocol protocol;

	RequestGate(Adapter service, UnreadBodies unread, Bounds bounds, UploadProtocol protocol) {
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
		// Requests of HTTP/2 share a connection, and have none of their own.
		if (!(request.getNote(UploadProtocol.CONNECTION) instanceof NioSocketWrapper socket)) {
			pass(request, response);
			return;
		}
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
		nameHost(request);
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

	/**
	 * Gives a request by HTTP/2 the header {@code Host}, by which foreign requests are
	 * told. Tomcat takes it away, as {@code :authority} says the same, and refuses a
	 * request in which they differ.
	 */
	private static void nameHost(Request request) {
		MessageBytes host = request.serverName();
		if (isHttp2(request) && request.getHeader(HttpHeaders.HOST) == null && !host.isNull()) {
			request.getMimeHeaders().addValue(HttpHeaders.HOST).setString(host.toString());
		}
	}

	private void serve(Request request, Response response, boolean actuator) throws Exception {
		if (isHttp2(request)) {
			// Tomcat tells the client to send no more of a body that is not read.
			this.service.service(request, response);
		}
		else if (actuator) {
			this.service.service(request, response);
			// A body that is dropped must not take a thread that is kept.
			UnreadBodies.leaveUnlessRead(request);
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
	}

	private static boolean isHttp2(Request request) {
		return "HTTP/2.0".equals(request.protocol().toString());
	}

	private void refuse(Request request, Response response, boolean actuator) throws IOException {
		this.protocol.refused();
		HttpStatus status = HttpStatus.TOO_MANY_REQUESTS;
		byte[] body = Problems.json(Problems.detail(status, "limit",
				"There are " + this.bounds.most(actuator) + ((actuator) ? " requests to Actuator" : " requests")
						+ " under way, as many as server.tomcat.threads.max=" + this.bounds.threads()
						+ " allows: send the request again later"))
			.getBytes(StandardCharsets.UTF_8);
		response.setStatus(status.value());
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		response.setContentLength(body.length);
		response.setHeader(HttpHeaders.RETRY_AFTER, Problems.RETRY_AFTER_SECONDS);
		if (!isHttp2(request)) {
			// HTTP/2 forbids the header, and its connection has other requests.
			response.setHeader(HttpHeaders.CONNECTION, "close");
		}
		UnreadBodies.leave(request);
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
