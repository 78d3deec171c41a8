package io.pipeset.web.siege;

import java.time.Duration;

import io.pipeset.service.Service;

import static org.assertj.core.api.Assertions.assertThat;

/** Asks for liveness again and again, and notes the longest time until an answer. */
final class HealthWatch {

	private final Thread thread = new Thread(this::watch, "health-watch");

	private final Service service;

	private volatile boolean ends;

	private volatile Throwable failure;

	private long longestNanos;

	HealthWatch(Service service) {
		this.service = service;
		this.thread.setDaemon(true);
		this.thread.start();
	}

	/** Ends the watch, and returns the longest time. */
	Duration longest() throws InterruptedException {
		this.ends = true;
		this.thread.join();
		assertThat(this.failure).isNull();
		return Duration.ofNanos(this.longestNanos);
	}

	private void watch() {
		try {
			while (!this.ends) {
				long asked = System.nanoTime();
				assertThat(this.service.get("/actuator/health/liveness").status()).isEqualTo(200);
				this.longestNanos = Math.max(this.longestNanos, System.nanoTime() - asked);
				Thread.sleep(50);
			}
		}
		catch (InterruptedException | RuntimeException | AssertionError ex) {
			this.failure = ex;
		}
	}

}
