package io.pipeset.web;

import java.time.Duration;
import java.util.function.Predicate;

import io.pipeset.job.input.EndOfInput;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.stereotype.Component;

/** The connections of the web server, whose input can be ended while it pauses. */
@Component
class UploadConnections {

	private final ApplicationContext context;

	UploadConnections(ApplicationContext context) {
		this.context = context;
	}

	/**
	 * Whether a request is under way, or its client still sends what nobody will read.
	 * @return {@code false} where every answer has gone out
	 */
	boolean areBusy() {
		UploadProtocol protocol = protocol();
		return protocol != null && protocol.isBusy();
	}

	/**
	 * Ends the input of all connections on which nothing comes.
	 * @param idle for how long nothing has come
	 */
	void endPaused(Duration idle) {
		endPaused(idle, (id) -> true);
	}

	/**
	 * Ends the input of a request's connection, if nothing comes on it.
	 * @param request the request
	 * @return what does so, for any thread, when it is given how long nothing has to have
	 * come
	 */
	EndOfInput of(HttpServletRequest request) {
		String id = request.getServletConnection().getConnectionId();
		return (idle) -> endPaused(idle, id::equals);
	}

	private void endPaused(Duration idle, Predicate<String> which) {
		UploadProtocol protocol = protocol();
		if (protocol != null) {
			protocol.endPaused(idle.toMillis(), which);
		}
	}

	private @Nullable UploadProtocol protocol() {
		return (this.context instanceof WebServerApplicationContext web
				&& web.getWebServer() instanceof TomcatWebServer server
				&& server.getTomcat().getConnector().getProtocolHandler() instanceof UploadProtocol protocol) ? protocol
						: null;
	}

}
