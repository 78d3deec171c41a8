package io.pipeset.pipeline;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** Runs batches, each on a connection of its own. */
public final class Pipelines {

	private final Connections connections;

	private final Fences fences;

	private final Duration patience;

	Pipelines(Connections connections, Fences fences, Duration patience) {
		this.connections = connections;
		this.fences = fences;
		this.patience = patience;
	}

	/**
	 * Runs a batch on a pooled connection that is the batch's own until it returns.
	 * @param flush when Lettuce writes to the socket
	 * @param timeout how long to wait for the fences of connections that were lost before
	 * @param batch sends slabs, and returns when each of them is done
	 * @throws NoConnectionException if there was no connection to be had; the batch was
	 * not called
	 */
	public void run(FlushPolicy flush, Duration timeout, Consumer<Pipeline> batch) throws NoConnectionException {
		this.fences.await(timeout);
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

}
