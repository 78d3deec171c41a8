package io.pipeset.pipeline;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/** Runs batches, each on a connection of its own. */
public final class Pipelines implements DisposableBean {

	/** What a new connection waits for, one after the other: TCP and its handshake. */
	private static final int WAITS = 2;

	private final Connections connections;

	private final Fences fences;

	private final Duration patience;

	private final ExecutorService takers;

	Pipelines(Connections connections, Fences fences, Duration patience) {
		this.connections = connections;
		this.fences = fences;
		this.patience = patience;
		CustomizableThreadFactory threads = new CustomizableThreadFactory("taker-");
		threads.setDaemon(true);
		this.takers = Executors.newCachedThreadPool(threads);
	}

	/**
	 * Runs a batch on a pooled connection that is the batch's own until it returns.
	 * @param flush when Lettuce writes to the socket
	 * @param timeout how long to wait for the connection, and before that for the fences
	 * of those that were lost
	 * @param batch sends slabs, and returns when each of them is done
	 * @throws NoConnectionException if there was no connection to be had; the batch was
	 * not called
	 */
	public void run(FlushPolicy flush, Duration timeout, Consumer<Pipeline> batch) throws NoConnectionException {
		this.fences.await(timeout);
		if (timeout.compareTo(this.patience.multipliedBy(WAITS)) < 0) {
			lendWithin(timeout, flush, batch);
		}
		else {
			lend(flush, batch);
		}
	}

	/**
	 * Takes the connection in another thread, and waits for it no longer than the
	 * timeout: Lettuce, when it is interrupted, would leave what it opens open for good.
	 */
	private void lendWithin(Duration timeout, FlushPolicy flush, Consumer<Pipeline> batch)
			throws NoConnectionException {
		CompletableFuture<Boolean> taken = new CompletableFuture<>();
		CompletableFuture<Void> ended = CompletableFuture.runAsync(() -> {
			try {
				lend(flush, (pipeline) -> {
					if (taken.complete(true)) {
						batch.accept(pipeline);
					}
				});
			}
			catch (NoConnectionException ex) {
				taken.completeExceptionally(ex);
			}
		}, this.takers);
		try {
			taken.orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS).join();
		}
		catch (CompletionException ex) {
			if (ex.getCause() instanceof NoConnectionException none) {
				throw none;
			}
			throw new NoConnectionException("none was open within the job's timeout");
		}
		ended.join();
	}

	private void lend(FlushPolicy flush, Consumer<Pipeline> batch) throws NoConnectionException {
		AtomicBoolean silent = new AtomicBoolean();
		this.connections.lend(flush, (connection) -> {
			try {
				ClientIdentity identity = ClientIdentity.of(connection, this.patience).orElse(null);
				batch.accept(new Pipeline(connection, identity, this.fences));
			}
			catch (TimeoutException ex) {
				silent.set(true);
				CompletableFuture<Void> unused = connection.closeAsync();
			}
		});
		if (silent.get()) {
			throw new NoConnectionException(
					"Redis did not answer CLIENT ID within " + this.patience.toMillis() + " ms");
		}
	}

	@Override
	public void destroy() {
		this.takers.shutdown();
	}

}
