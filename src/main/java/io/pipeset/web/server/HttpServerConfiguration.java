package io.pipeset.web.server;

import java.time.Duration;
import java.util.regex.Pattern;

import io.pipeset.memory.MemoryBudget;
import io.pipeset.request.JobLimits;
import org.apache.coyote.ProtocolHandler;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.Ssl;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.web.filter.RequestContextFilter;

/**
 * Configures Boot's Tomcat for large uploads, and bounds its connections and threads.
 * Spring finds this configuration by its component scan. Actuator also finds it by
 * {@code META-INF/spring}, for the small server on {@code management.server.port}.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
class HttpServerConfiguration {

	/**
	 * Twice Tomcat's default, so that there are fewer system calls and fewer apparent
	 * pauses. Each connection has two such buffers, even if it is idle.
	 */
	private static final int READ_BUFFER_BYTES = 16 << 10;

	/** For a large heap. With this size, large values need a sixth less CPU time. */
	private static final int LARGE_READ_BUFFER_BYTES = 64 << 10;

	private static final long LARGE_HEAP_BYTES = 1L << 30;

	/**
	 * The maximum heap of a connection with a request, without its two read buffers.
	 */
	private static final int CONNECTION_BYTES = 40 << 10;

	private static final int TLS_CONNECTION_BYTES = 96 << 10;

	/** All connections together take at most one part in this many of the heap. */
	private static final int HEAP_PARTS = 8;

	private static final int MIN_CONNECTIONS = 256;

	private static final int MAX_CONNECTIONS = 8192;

	private static final int MANAGEMENT_CONNECTIONS = 64;

	private static final int MANAGEMENT_THREADS = 8;

	/** Short, because clients that check health wait only a few seconds. */
	private static final Duration MANAGEMENT_READ_PERIOD = Duration.ofSeconds(1);

	/**
	 * The threads for Actuator, for draining bodies and for refusals, in addition to
	 * those for jobs.
	 */
	private static final int FURTHER_THREADS = 32;

	/** The further threads that only requests to Actuator may use. */
	private static final int ACTUATOR_THREADS = 8;

	/** The further threads that any request may use. */
	private static final int SHARED_THREADS = 16;

	private static final String HTTP2 = "server.http2.enabled";

	/** Matches no path, because a path is never empty. */
	private static final Pattern NO_PATH = Pattern.compile("");

	/**
	 * The paths below the base path of Actuator. No segment begins with a dot, so none is
	 * one or two dots. No group is repeated, because a repeated group takes stack.
	 */
	private static final String SUBPATHS = "(?:(?!.*/\\.)/[A-Za-z0-9./-]*)?";

	@Bean
	FilterRegistrationBean<FallbackErrorFilter> fallbackErrorFilter() {
		FilterRegistrationBean<FallbackErrorFilter> filter = new FilterRegistrationBean<>(new FallbackErrorFilter());
		filter.setOrder(Ordered.HIGHEST_PRECEDENCE);
		return filter;
	}

	@Bean
	FilterRegistrationBean<UnreadableRequestFilter> unreadableRequestFilter() {
		return new FilterRegistrationBean<>(new UnreadableRequestFilter());
	}

	/** Disables Boot's filter, because Spring MVC's dispatcher does the same work. */
	@Bean
	FilterRegistrationBean<RequestContextFilter> requestContextFilter() {
		FilterRegistrationBean<RequestContextFilter> filter = new FilterRegistrationBean<>(new RequestContextFilter());
		filter.setEnabled(false);
		return filter;
	}

	@Bean
	WebServerFactoryCustomizer<TomcatServletWebServerFactory> largeUploads(JobLimits limits, MemoryBudget memory,
			JsonMapper mapper, Environment environment, ApplicationContext context) {
		refuseHttp2(environment);
		boolean management = WebServerApplicationContext.hasServerNamespace(context, "management");
		return (factory) -> {
			factory.setProtocol(UploadProtocol.class.getName());
			factory.addContextCustomizers((webapp) -> webapp.getParent()
				.getPipeline()
				.addValve(new ProblemReportValve(limits.bodyIdleTimeout(), mapper)));
			int connections = (management) ? MANAGEMENT_CONNECTIONS
					: connections(Runtime.getRuntime().maxMemory(), Ssl.isEnabled(factory.getSsl()));
			factory.addConnectorCustomizers((connector) -> {
				connector.setProperty("socket.appReadBufSize",
						String.valueOf(readBufferBytes(Runtime.getRuntime().maxMemory())));
				UploadProtocol http = protocol(connector.getProtocolHandler());
				http.setConnector(connector);
				if (management || !environment.containsProperty("server.tomcat.max-connections")) {
					http.setMaxConnections(connections);
				}
				http.setAnswerTimeout(limits.bodyIdleTimeout());
				if (management) {
					http.setMaxThreads(MANAGEMENT_THREADS);
					http.setReadPeriod(MANAGEMENT_READ_PERIOD);
					return;
				}
				http.setMemoryShortage(memory::isShort);
				// A key with an encoded slash reaches the controller, which explains
				// where to send it.
				connector.setEncodedSolidusHandling("passthrough");
				// A job needs a thread while it runs or waits. An asynchronous job
				// needs one only during its upload.
				int threads = Math.max(http.getMaxThreads(),
						limits.maxRunningJobs() + limits.maxWaitingJobs() + limits.maxAsyncJobs() + FURTHER_THREADS);
				http.setMaxThreads(threads);
				http.setBounds(new RequestGate.Bounds(ACTUATOR_THREADS, SHARED_THREADS,
						threads - ACTUATOR_THREADS - SHARED_THREADS, actuatorPaths(environment)));
				// Bodies have another timeout than the time between requests.
				http.setDisableUploadTimeout(false);
				http.setConnectionUploadTimeout((int) limits.bodyIdleTimeout().toMillis());
				// Many clients read no response before the end of their upload. They
				// read a refusal if they still wait for 100 Continue.
				http.setContinueResponseTiming("onRead");
			});
		};
	}

	/**
	 * Refuses HTTP/2, because the rules for slow readers cannot apply to streams that
	 * share a connection.
	 */
	private static void refuseHttp2(Environment environment) {
		if (environment.getProperty(HTTP2, boolean.class, false)) {
			throw new InvalidConfigurationPropertyValueException(HTTP2, true,
					"The service can end slow callers only with HTTP/1.1. Remove this property, and let a proxy in"
							+ " front of the service speak HTTP/2");
		}
	}

	/** The maximum number of connections for a heap of this size. */
	static int connections(long heapBytes, boolean tls) {
		int bytes = ((tls) ? TLS_CONNECTION_BYTES : CONNECTION_BYTES) + 2 * readBufferBytes(heapBytes);
		long fitting = heapBytes / HEAP_PARTS / bytes;
		return (int) Math.max(MIN_CONNECTIONS, Math.min(MAX_CONNECTIONS, fitting));
	}

	/** The size of a connection's read buffer for a heap of this size. */
	static int readBufferBytes(long heapBytes) {
		return (heapBytes < LARGE_HEAP_BYTES) ? READ_BUFFER_BYTES : LARGE_READ_BUFFER_BYTES;
	}

	/**
	 * The paths of Actuator. A spelling that could also name another path does not match.
	 */
	private static Pattern actuatorPaths(Environment environment) {
		String base = environment.getProperty("server.servlet.context-path", "")
				+ environment.getProperty("management.endpoints.web.base-path", "/actuator");
		return (base.isEmpty() || base.endsWith("/")) ? NO_PATH : Pattern.compile(Pattern.quote(base) + SUBPATHS);
	}

	private static UploadProtocol protocol(ProtocolHandler handler) {
		if (handler instanceof UploadProtocol protocol) {
			return protocol;
		}
		throw new IllegalStateException("The web server's connector has the protocol " + handler.getClass().getName()
				+ ", but pipeset needs " + UploadProtocol.class.getName() + ": do not change the protocol");
	}

}
