package io.pipeset.web;

import io.pipeset.job.JobLimits;
import org.apache.coyote.http11.AbstractHttp11Protocol;

import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Makes of Boot's Tomcat what large uploads need. */
@Configuration(proxyBeanMethods = false)
class HttpServerConfiguration {

	private static final int READ_BUFFER_BYTES = 64 << 10;

	/** For health probes, and to refuse what is too many. */
	private static final int FURTHER_THREADS = 32;

	@Bean
	WebServerFactoryCustomizer<TomcatServletWebServerFactory> largeUploads(JobLimits limits) {
		return (factory) -> {
			factory.setProtocol(UploadProtocol.class.getName());
			factory.addContextCustomizers(
					(context) -> context.getParent().getPipeline().addValve(new ProblemReportValve()));
			factory.addConnectorCustomizers((connector) -> {
				// Lets a key's encoded slash reach the controller, which says where to
				// send
				// it.
				connector.setEncodedSolidusHandling("passthrough");
				if (connector.getProtocolHandler() instanceof AbstractHttp11Protocol<?> http) {
					// Eight times Tomcat's own: fewer system calls, and fewer pauses that
					// are none.
					connector.setProperty("socket.appReadBufSize", String.valueOf(READ_BUFFER_BYTES));
					// A job takes a thread, and so does one that waits.
					http.setMaxThreads(Math.max(http.getMaxThreads(),
							limits.maxRunningJobs() + limits.maxWaitingJobs() + FURTHER_THREADS));
					// From here on it is the body's pause, and not that between two
					// requests.
					http.setDisableUploadTimeout(false);
					http.setConnectionUploadTimeout((int) limits.bodyIdleTimeout().toMillis());
					// A client that is still uploading reads no answer before it is
					// through, unless it is kept from starting.
					http.setContinueResponseTiming("onRead");
					http.setMaxSwallowSize((int) Math.min(limits.maxBodyBytes().toBytes(), Integer.MAX_VALUE));
				}
			});
		};
	}

}
