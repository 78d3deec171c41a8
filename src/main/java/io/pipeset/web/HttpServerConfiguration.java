package io.pipeset.web;

import java.util.regex.Pattern;

import io.pipeset.job.JobLimits;
import org.apache.coyote.ProtocolHandler;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.Ssl;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * Makes of Boot's Tomcat what large uploads need, and bounds what they take. Like
 * {@link AccessConfiguration} it is found once more by Actuator, for a server of its own,
 * which is a small one.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
class HttpServerConfiguration {

	/**
	 * Twice Tomcat's own: fewer system calls, and fewer pauses that are none. Each
	 * connection has one, whether anything comes on it or not.
	 */
	private static final int READ_BUFFER_BYTES = 16 << 10;

	/**
	 * Of the heap, at most, that a connection takes which has sent the beginning of a
	 * request. One that has sent nothing takes 26 KB.
	 */
	private static final int CONNECTION_BYTES = 72 << 10;

	private static final int TLS_CONNECTION_BYTES = 128 << 10;

	private static final int PART_OF_HEAP = 8;

	private static final int LEAST_CONNECTIONS = 256;

	private static final int MOST_CONNECTIONS = 8192;

	private static final int MANAGEMENT_CONNECTIONS = 64;

	private static final int MANAGEMENT_THREADS = 8;

	/** Threads for Actuator, for dropping the rest of bodies, and for refusals. */
	private static final int FURTHER_THREADS = 32;

	/** Of those, the ones that Actuator alone may take. */
	private static final int ACTUATOR_THREADS = 8;

	private static final Pattern NONE = Pattern.compile("");

	private static final String SEGMENTS = "(/[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)*)*";

	@Bean
	WebServerFactoryCustomizer<TomcatServletWebServerFactory> largeUploads(JobLimits limits, Environment environment,
			ApplicationContext context) {
		boolean management = WebServerApplicationContext.hasServerNamespace(context, "management");
		return (factory) -> {
			factory.setProtocol(UploadProtocol.class.getName());
			factory
				.addContextCustomizers((webapp) -> webapp.getParent().getPipeline().addValve(new ProblemReportValve()));
			int connections = (management) ? MANAGEMENT_CONNECTIONS
					: connections(Runtime.getRuntime().maxMemory(), Ssl.isEnabled(factory.getSsl()));
			factory.addConnectorCustomizers((connector) -> {
				connector.setProperty("socket.appReadBufSize", String.valueOf(READ_BUFFER_BYTES));
				UploadProtocol http = protocol(connector.getProtocolHandler());
				if (management || !environment.containsProperty("server.tomcat.max-connections")) {
					http.setMaxConnections(connections);
				}
				if (management) {
					http.setMaxThreads(MANAGEMENT_THREADS);
					return;
				}
				// Lets a key's encoded slash reach the controller, which says where to
				// send it.
				connector.setEncodedSolidusHandling("passthrough");
				// A job takes a thread, and so does one that waits.
				int threads = Math.max(http.getMaxThreads(),
						limits.maxRunningJobs() + limits.maxWaitingJobs() + FURTHER_THREADS);
				http.setMaxThreads(threads);
				http.setBounds(new RequestGate.Bounds(threads, threads - ACTUATOR_THREADS, actuator(environment)));
				// From here on it is the body's pause, and not that between two
				// requests.
				http.setDisableUploadTimeout(false);
				http.setConnectionUploadTimeout((int) limits.bodyIdleTimeout().toMillis());
				// A client that is still uploading reads no answer before it is
				// through, unless it is kept from starting.
				http.setContinueResponseTiming("onRead");
			});
		};
	}

	/** How many connections a server may have that a heap of so many bytes stands. */
	static int connections(long heapBytes, boolean tls) {
		long most = heapBytes / PART_OF_HEAP / ((tls) ? TLS_CONNECTION_BYTES : CONNECTION_BYTES);
		return (int) Math.max(LEAST_CONNECTIONS, Math.min(MOST_CONNECTIONS, most));
	}

	/** Paths of Actuator, in a spelling that stands for nothing else. */
	private static Pattern actuator(Environment environment) {
		String base = environment.getProperty("server.servlet.context-path", "")
				+ environment.getProperty("management.endpoints.web.base-path", "/actuator");
		return (base.isEmpty() || base.endsWith("/")) ? NONE : Pattern.compile(Pattern.quote(base) + SEGMENTS);
	}

	private static UploadProtocol protocol(ProtocolHandler handler) {
		if (handler instanceof UploadProtocol protocol) {
			return protocol;
		}
		throw new IllegalStateException("The web server speaks " + handler.getClass().getName()
				+ ", and not what pipeset has set: leave the protocol of its connector as it is");
	}

}
