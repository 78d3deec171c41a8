package io.pipeset.engine.pipeline;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.pipeset.engine.pipeline.call.CallConnection;
import io.pipeset.engine.pipeline.call.ClientIdentity;
import io.pipeset.engine.pipeline.call.ConnectionLender;
import io.pipeset.engine.pipeline.call.ConnectionMemory;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.engine.slab.Coalescing;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/** Runs batches, each on a pooled connection of its own. */
final class Pipelines {

	private final ConnectionLender lender;

	private final Fences fences;

	private final Duration patience;

	private final Duration opening;

	private final ExecutorService takers;

	/**
	 * Runs batches.
	 * @param fences the lost connections that a batch waits for before it begins
	 * @param patience how long Redis may take to say who a new connection is
	 * @param opening the longest that opening a connection may take
	 */
	Pipelines(ConnectionLender lender, Fences fences, Duration patience, Duration opening) {
		this.lender = lender;
		this.fences = fences;
		this.patience = patience;
		this.opening = opening;
		CustomizableThreadFactory threads = new CustomizableThreadFactory("taker-");
		threads.setDaemon(true);
		this.takers = Executors.newCachedThreadPool(threads);
	}

	/**
	 * Runs a batch on a pooled connection that is the batch's own until it returns.
	 * @param timeout how long to wait for the fences of lost connections, and then for a
	 * connection
	 * @param stop ends the wait for fences
	 * @param release called once, when the connection is back or will certainly not be
	 * taken; if this method gives up waiting, another thread calls it later
	 * @param batch sends slabs, and returns when each of them is done
	 * @throws NoConnectionException if there was no connection; the batch was not called
	 */
	void run(FlushPolicy flush, Duration timeout, StopSignal stop, Runnable release, Consumer<Pipeline> batch)
			throws NoConnectionException {
		boolean taking = false;
		try {
			this.fences.await(timeout, stop);
			if (timeout.compareTo(this.opening) >= 0) {
				lend(flush, batch);
			}
			else {
				Taker taker = new Taker(flush, release, batch);
				this.takers.execute(taker);
				taking = true;
				taker.await(timeout);
			}
		}
		finally {
			if (!taking) {
				release.run();
			}
		}
	}

	private void lend(FlushPolicy flush, Consumer<Pipeline> batch) throws NoConnectionException {
		AtomicReference<@Nullable RedisCallException> silence = new AtomicReference<>();
		this.lender.lend(flush, (connection) -> {
			CallConnection calls = new CallConnection(this.lender.address(), connection, this.patience);
			ClientIdentity identity = null;
			boolean tellsRunIdLater = true;
			Coalescing coalescing = null;
			try {
				identity = ClientIdentity.of(calls).orElse(null);
				tellsRunIdLater = identity != null && ConnectionMemory.of(connection).identity() == null;
				coalescing = AllowedCoalescing.of(calls, (identity != null) ? identity.version() : null);
			}
			catch (RedisCallException ex) {
				if (!ex.isLost()) {
					silence.set(ex);
					return;
				}
				// The connection is closed, so the batch finds out that it needs another
				// one.
			}
			batch.accept(new Pipeline(connection, identity, tellsRunIdLater, coalescing, this.fences, this.lender));
		});
		RedisCallException silent = silence.get();
		if (silent != null) {
			throw new NoConnectionException(this.lender.address(), silent);
		}
	}

	void close() {
		this.takers.shutdown();
	}

	/**
	 * Takes a connection in a thread of its own, for a job that waits no longer than its
	 * timeout. Lettuce, when it is interrupted, would leave the connection that it opens
	 * open for good. A job that gives up waiting leaves the taker behind, which gives the
	 * connection back as soon as it gets it.
	 */
	private final class Taker implements Runnable {

		private final CompletableFuture<Boolean> taken = new CompletableFuture<>();

		private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

		private final FlushPolicy flush;

		private final Runnable release;

		private final Consumer<Pipeline> batch;

		Taker(FlushPolicy flush, Runnable release, Consumer<Pipeline> batch) {
			this.flush = flush;
			this.release = release;
			this.batch = batch;
		}

		@Override
		public void run() {
			Throwable failure = null;
			try {
				lend(this.flush, (pipeline) -> {
					if (this.taken.complete(true)) {
						this.batch.accept(pipeline);
					}
				});
			}
			catch (NoConnectionException | RuntimeException | Error ex) {
				failure = ex;
			}
			this.release.run();
			this.taken.complete(true);
			if (failure != null) {
				this.ended.completeExceptionally(failure);
			}
			else {
				this.ended.complete(null);
			}
		}

		void await(Duration timeout) throws NoConnectionException {
			if (!this.taken.completeOnTimeout(false, timeout.toNanos(), TimeUnit.NANOSECONDS).join()) {
				throw new NoConnectionException(Pipelines.this.lender.address(),
						"none was open within the job's timeout");
			}
			try {
				this.ended.join();
			}
			catch (CompletionException ex) {
				if (ex.getCause() instanceof NoConnectionException none) {
					throw none;
				}
				throw ex;
			}
		}

	}

}
