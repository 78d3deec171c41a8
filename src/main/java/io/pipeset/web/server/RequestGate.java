package io.pipeset.web.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

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
 * Actuator: another request that would take one of them is answered 429 at once. The rest
 * of a body is dropped after its answer, but never by a thread that is kept.
 */
final class RequestGate implements Adapter {

	private final Adapter service;

	private final UnreadBodies unread;

	private final Bounds bounds;

	private final AtomicInteger others = new AtomicInteger();

	private final UploadProtocol protocol;

	RequestGate(Adapter service, UnreadBodies unread, Bounds bounds, UploadProtocol protocol) {
		this.service = service;
		this.unread = unread;
		this.bounds = bounds;
		this.protocol = protocol;
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
		// A request that is not HTTP has no path.
		String path = request.requestURI().toString();
		boolean other = path == null || !this.bounds.privileged.matcher(path).matches();
		try {
			if (other && this.others.incrementAndGet() > this.bounds.requests) {
				refuse(request, response);
			}
			else {
				this.service.service(request, response);
				if (other) {
					this.unread.drop(request);
				}
				else {
					// A body that is dropped must not take a thread that is kept.
					UnreadBodies.leaveUnlessRead(request);
				}
			}
		}
		finally {
			if (other) {
				this.others.decrementAndGet();
			}
		}
	}

	private void refuse(Request request, Response response) throws IOException {
		this.protocol.refused();
		HttpStatus status = HttpStatus.TOO_MANY_REQUESTS;
		byte[] body = Problems
			.json(Problems.detail(status, "limit",
					"There are " + this.bounds.requests + " requests under way, as many as server.tomcat.threads.max="
							+ this.bounds.threads + " allows: send the request again later"))
			.getBytes(StandardCharsets.UTF_8);
		response.setStatus(status.value());
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		response.setContentLength(body.length);
		response.setHeader(HttpHeaders.RETRY_AFTER, Problems.RETRY_AFTER_SECONDS);
		response.setHeader(HttpHeaders.CONNECTION, "close");
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
	 * The bounds on the requests of a web server.
	 *
	 * @param threads the threads of the server
	 * @param requests the requests without privilege that may be under way
	 * @param privileged the paths of privileged requests, as they come over the wire
	 */
	record Bounds(int threads, int requests, Pattern privileged) {

	}

}
