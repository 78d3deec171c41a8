package io.pipeset.web.server;

import java.time.Duration;
import java.util.function.Predicate;

import io.pipeset.job.input.EndOfInput;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.stereotype.Component;

/** Ends the input of the web server's connections while nothing comes on them. */
@Component
public class UploadConnections {

	private final ApplicationContext context;

	UploadConnections(ApplicationContext context) {
		this.context = context;
	}

	/**
	 * Whether a request is under way, or its client still sends a body that nobody reads.
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
	 * @return the way to do so, for any thread, given for how long nothing has come
	 */
	public EndOfInput of(HttpServletRequest request) {
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
