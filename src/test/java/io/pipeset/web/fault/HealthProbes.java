package io.pipeset.web.fault;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.pipeset.service.Service;

import static org.awaitility.Awaitility.await;

/** Asks the service for its health, again and again, as an orchestrator does. */
final class HealthProbes implements AutoCloseable {

	private static final int AT_ONCE = 2;

	private final Service service;

	private final List<CompletableFuture<Void>> probes;

	private final AtomicInteger unanswered = new AtomicInteger();

	private volatile boolean on = true;

	HealthProbes(Service service) {
		this.service = service;
		this.probes = IntStream.range(0, AT_ONCE).mapToObj((i) -> {
			CompletableFuture<Void> end = new CompletableFuture<>();
			Thread thread = new Thread(() -> probe(end), "health-probe-" + i);
			thread.setDaemon(true);
			thread.start();
			return end;
		}).toList();
	}

	/** Waits until each probe has once more had no answer from Redis. */
	void awaitUnanswered() {
		int before = this.unanswered.get();
		await().until(() -> this.unanswered.get() >= before + AT_ONCE);
	}

	private void probe(CompletableFuture<Void> end) {
		try {
			while (this.on) {
				int status = this.service.get("/actuator/health").status();
				if (status == 503) {
					this.unanswered.incrementAndGet();
				}
				else if (status != 200) {
					throw new IllegalStateException("Health answers with " + status);
				}
			}
			end.complete(null);
		}
		catch (RuntimeException ex) {
			end.completeExceptionally(ex);
		}
	}

	@Override
	public void close() {
		this.on = false;
		this.probes.forEach(CompletableFuture::join);
	}

}
