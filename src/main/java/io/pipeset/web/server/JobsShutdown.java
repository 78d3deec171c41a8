package io.pipeset.web.server;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.pipeset.request.JobLimits;
import io.pipeset.run.Jobs;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.support.DefaultLifecycleProcessor;
import org.springframework.stereotype.Component;

/**
 * Ends the jobs before the web server ends their requests, so that each caller can read
 * its report. Until then the service answers requests, and refuses new jobs.
 */
@Component
class JobsShutdown implements SmartLifecycle {

	private static final Logger log = LoggerFactory.getLogger(JobsShutdown.class);

	/** If no byte of an upload arrives for this long, the shutdown ends its input. */
	private static final Duration PAUSE = Duration.ofSeconds(1);

	/** If no job has run for this long, the shutdown ends all uploads that wait. */
	private static final Duration TRICKLE = Duration.ofSeconds(3);

	/** The maximum time left for the web server and the connections to Redis. */
	private static final Duration MAX_REST = Duration.ofSeconds(3);

	private static final int TICK_MILLIS = 20;

	private final Jobs jobs;

	private final Duration grace;

	/** The time for jobs and their responses together. */
	private final Duration total;

	private final ApplicationContext context;

	private volatile boolean running;

	JobsShutdown(Jobs jobs, JobLimits limits, ApplicationContext context, DefaultLifecycleProcessor lifecycle,
			@Value("${spring.lifecycle.timeout-per-shutdown-phase:30s}") Duration phase) {
		if (limits.shutdownGrace().compareTo(phase) >= 0) {
			throw new InvalidConfigurationPropertyValueException("spring.lifecycle.timeout-per-shutdown-phase", phase,
					"It must be longer than pipeset.limits.shutdown-grace=" + limits.shutdownGrace() + ".");
		}
		this.jobs = jobs;
		this.grace = limits.shutdownGrace();
		Duration half = phase.minus(this.grace).dividedBy(2);
		Duration rest = (half.compareTo(MAX_REST) < 0) ? half : MAX_REST;
		this.total = phase.minus(rest);
		this.context = context;
		lifecycle.setTimeoutForShutdownPhase(WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE, rest.toMillis());
	}

	@Override
	public void start() {
		this.jobs.open();
		this.running = true;
	}

	@Override
	public void stop() {
		long end = System.nanoTime() + this.total.toNanos();
		this.jobs.close();
		try {
			if (!this.jobs.awaitIdle(this.grace)) {
				log.warn("{} jobs still run after {} and are stopped", this.jobs.running(), this.grace);
				this.jobs.stopAll();
			}
			awaitResponses(end);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.running = false;
	}

	@Override
	public void stop(Runnable callback) {
		// A separate thread, so that the phase's timeout applies even if Redis hangs.
		Thread thread = new Thread(() -> {
			stop();
			callback.run();
		}, "jobs-shutdown");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE + 1;
	}

	/**
	 * Waits until all responses are sent. Boot's own wait overlooks those that the error
	 * valve writes.
	 */
	private void awaitResponses(long end) throws InterruptedException {
		long lastJob = System.nanoTime();
		UploadProtocol protocol = protocol();
		while (true) {
			if (!this.jobs.awaitIdle(PAUSE)) {
				lastJob = System.nanoTime();
			}
			else if (protocol == null || protocol.activeConnections().isEmpty()) {
				return;
			}
			if (protocol != null) {
				endConnections(protocol, lastJob, end);
			}
			TimeUnit.MILLISECONDS.sleep(TICK_MILLIS);
		}
	}

	/** Ends the connections of slow callers. After {@code end}, it ends all of them. */
	private static void endConnections(UploadProtocol protocol, long lastJob, long end) {
		long now = System.nanoTime();
		if (now - end > 0) {
			protocol.activeConnections().forEach(CallerConnection::end);
			return;
		}
		Duration idle = (now - lastJob > TRICKLE.toNanos()) ? Duration.ZERO : PAUSE;
		protocol.activeConnections().forEach((caller) -> caller.endInputIfPaused(idle));
		protocol.endUnreadAnswers(true);
	}

	private @Nullable UploadProtocol protocol() {
		return (this.context instanceof WebServerApplicationContext web
				&& web.getWebServer() instanceof TomcatWebServer server
				&& server.getTomcat().getConnector().getProtocolHandler() instanceof UploadProtocol protocol) ? protocol
						: null;
	}

}
