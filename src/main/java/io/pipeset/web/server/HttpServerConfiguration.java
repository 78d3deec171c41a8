package io.pipeset.web.server;

import java.time.Duration;
import java.util.regex.Pattern;

import io.pipeset.job.JobLimits;
import io.pipeset.job.memory.MemoryBudget;
import org.apache.coyote.ProtocolHandler;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.error.ErrorPage;
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
 * Sets Boot's Tomcat up for large uploads, and bounds the connections and threads that
 * they take. Spring finds this configuration by its scan, and Actuator once more by
 * {@code META-INF/spring}, for the small server that {@code management.server.port} gives
 * it.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
class HttpServerConfiguration {

	/**
	 * Twice Tomcat's own, for fewer system calls and fewer seeming pauses. Each
	 * connection has two such buffers, even an idle one.
	 */
	private static final int READ_BUFFER_BYTES = 16 << 10;

	/** For a heap with room for it: large values take a sixth less of the CPU. */
	private static final int LARGE_READ_BUFFER_BYTES = 64 << 10;

	private static final long LARGE_HEAP_BYTES = 1L << 30;

	/**
	 * The most heap that a connection takes beside its two read buffers, once the
	 * beginning of a request has come.
	 */
	private static final int CONNECTION_BYTES = 40 << 10;

	private static final int TLS_CONNECTION_BYTES = 96 << 10;

	private static final int PART_OF_HEAP = 8;

	private static final int LEAST_CONNECTIONS = 256;

	private static final int MOST_CONNECTIONS = 8192;

	private static final int MANAGEMENT_CONNECTIONS = 64;

	private static final int MANAGEMENT_THREADS = 8;

	/** Callers that ask for health wait a few seconds only. */
	private static final Duration MANAGEMENT_READING_PERIOD = Duration.ofSeconds(1);

	/** Threads for Actuator, for dropping the rest of bodies, and for refusals. */
	private static final int FURTHER_THREADS = 32;

	/** Those of the further threads that only Actuator may take. */
	private static final int ACTUATOR_THREADS = 8;

	/** Those of the further threads that Actuator may take where others leave them. */
	private static final int SHARED_THREADS = 16;

	private static final String HTTP2 = "server.http2.enabled";

	private static final Pattern NONE = Pattern.compile("");

	/** No segment is one or two dots. Nothing repeats a group, which takes stack. */
	private static final String BELOW = "(?:(?!.*/\\.)/[A-Za-z0-9./-]*)?";

	/** In front of all others. */
	@Bean
	FilterRegistrationBean<FallbackErrorFilter> lastAnswers() {
		FilterRegistrationBean<FallbackErrorFilter> filter = new FilterRegistrationBean<>(new FallbackErrorFilter());
		filter.setOrder(Ordered.HIGHEST_PRECEDENCE);
		return filter;
	}

	@Bean
	FilterRegistrationBean<UnreadableRequestFilter> readableRequests() {
		return new FilterRegistrationBean<>(new UnreadableRequestFilter());
	}

	/** Leaves out a filter that does what the dispatcher of Spring MVC does as well. */
	@Bean
	FilterRegistrationBean<RequestContextFilter> requestContextFilter() {
		FilterRegistrationBean<RequestContextFilter> filter = new FilterRegistrationBean<>(new RequestContextFilter());
		filter.setEnabled(false);
		return filter;
	}

	@Bean
	WebServerFactoryCustomizer<TomcatServletWebServerFactory> largeUploads(JobLimits limits, MemoryBudget memory,
			Environment environment, ApplicationContext context) {
		refuseHttp2(environment);
		boolean management = WebServerApplicationContext.hasServerNamespace(context, "management");
		return (factory) -> {
			factory.setProtocol(UploadProtocol.class.getName());
			factory
				.addContextCustomizers((webapp) -> webapp.getParent().getPipeline().addValve(new ProblemReportValve()));
			if (!management) {
				factory.addErrorPages(new ErrorPage(environment.getProperty("spring.web.error.path", "/error")));
			}
			int connections = (management) ? MANAGEMENT_CONNECTIONS
					: connections(Runtime.getRuntime().maxMemory(), Ssl.isEnabled(factory.getSsl()));
			factory.addConnectorCustomizers((connector) -> {
				connector.setProperty("socket.appReadBufSize",
						String.valueOf(readBufferBytes(Runtime.getRuntime().maxMemory())));
				UploadProtocol http = protocol(connector.getProtocolHandler());
				if (management || !environment.containsProperty("server.tomcat.max-connections")) {
					http.setMaxConnections(connections);
				}
				http.setAnswerTimeout(limits.bodyIdleTimeout());
				if (management) {
					http.setMaxThreads(MANAGEMENT_THREADS);
					http.setReadingPeriod(MANAGEMENT_READING_PERIOD);
					return;
				}
				http.setMemory(memory::isShort);
				// Lets a key with an encoded slash reach the controller, which explains
				// where to send it.
				connector.setEncodedSolidusHandling("passthrough");
				// A job takes a thread, running or waiting; an asynchronous one while
				// it is uploaded.
				int threads = Math.max(http.getMaxThreads(),
						limits.maxRunningJobs() + limits.maxWaitingJobs() + limits.maxAsyncJobs() + FURTHER_THREADS);
				http.setMaxThreads(threads);
				http.setBounds(new RequestGate.Bounds(ACTUATOR_THREADS, SHARED_THREADS,
						threads - ACTUATOR_THREADS - SHARED_THREADS, actuator(environment)));
				// Gives bodies a timeout apart from the one between two requests.
				http.setDisableUploadTimeout(false);
				http.setConnectionUploadTimeout((int) limits.bodyIdleTimeout().toMillis());
				// A client that uploads reads no answer before its upload ends, unless
				// it was kept from starting.
				http.setContinueResponseTiming("onRead");
			});
		};
	}

	/** Streams that share a connection cannot be held to the rules for slow readers. */
	private static void refuseHttp2(Environment environment) {
		if (environment.getProperty(HTTP2, boolean.class, false)) {
			throw new InvalidConfigurationPropertyValueException(HTTP2, true,
					"Only HTTP/1.1 bounds callers that read or send slowly. Leave it out, and let a proxy in front of"
							+ " the service speak HTTP/2");
		}
	}

	/** The connections that fit into a heap of so many bytes. */
	static int connections(long heapBytes, boolean tls) {
		int bytes = ((tls) ? TLS_CONNECTION_BYTES : CONNECTION_BYTES) + 2 * readBufferBytes(heapBytes);
		long most = heapBytes / PART_OF_HEAP / bytes;
		return (int) Math.max(LEAST_CONNECTIONS, Math.min(MOST_CONNECTIONS, most));
	}

	/** The size of a connection's read buffer beside a heap of so many bytes. */
	static int readBufferBytes(long heapBytes) {
		return (heapBytes < LARGE_HEAP_BYTES) ? READ_BUFFER_BYTES : LARGE_READ_BUFFER_BYTES;
	}

	/** The paths of Actuator, spelled so that they name nothing else. */
	private static Pattern actuator(Environment environment) {
		String base = environment.getProperty("server.servlet.context-path", "")
				+ environment.getProperty("management.endpoints.web.base-path", "/actuator");
		return (base.isEmpty() || base.endsWith("/")) ? NONE : Pattern.compile(Pattern.quote(base) + BELOW);
	}

	private static UploadProtocol protocol(ProtocolHandler handler) {
		if (handler instanceof UploadProtocol protocol) {
			return protocol;
		}
		throw new IllegalStateException("The web server speaks " + handler.getClass().getName()
				+ ", and not what pipeset has set: leave the protocol of its connector as it is");
	}

}
