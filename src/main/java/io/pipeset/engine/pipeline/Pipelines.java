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
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.engine.slab.Coalescing;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/** Runs batches, each on a pooled connection that no other batch uses meanwhile. */
final class Pipelines {

	private final ConnectionLender lender;

	private final Fences fences;

	private final Duration replyTimeout;

	private final Duration openingTimeout;

	private final ExecutorService borrowers;

	/**
	 * Runs batches.
	 * @param fences the lost connections that must be fenced off before a batch begins
	 * @param replyTimeout how long to wait for each reply that identifies a new
	 * connection
	 * @param openingTimeout the longest time that opening a connection may take
	 */
	Pipelines(ConnectionLender lender, Fences fences, Duration replyTimeout, Duration openingTimeout) {
		this.lender = lender;
		this.fences = fences;
		this.replyTimeout = replyTimeout;
		this.openingTimeout = openingTimeout;
		CustomizableThreadFactory threads = new CustomizableThreadFactory("borrower-");
		threads.setDaemon(true);
		this.borrowers = Executors.newCachedThreadPool(threads);
	}

	/**
	 * Runs a batch on a pooled connection, which the batch holds until it returns.
	 * @param timeout how long to wait for the fences of lost connections, and then again
	 * for a connection
	 * @param stop ends the wait for fences
	 * @param releasePermit releases the permit for the connection. It runs exactly once,
	 * when the connection is back or can no longer be borrowed. If this method gives up
	 * waiting, that happens later, in another thread
	 * @param batch sends slabs, and returns when each of them is done
	 * @throws NoConnectionException if there was no connection; the batch was not called
	 */
	void run(FlushPolicy flush, Duration timeout, StopSignal stop, Runnable releasePermit, Consumer<Pipeline> batch)
			throws NoConnectionException {
		boolean handedOver = false;
		try {
			this.fences.await(timeout, stop);
			if (timeout.compareTo(this.openingTimeout) >= 0) {
				lend(flush, batch);
			}
			else {
				Borrower borrower = new Borrower(flush, releasePermit, batch);
				this.borrowers.execute(borrower);
				handedOver = true;
				borrower.await(timeout);
			}
		}
		finally {
			if (!handedOver) {
				releasePermit.run();
			}
		}
	}

	private void lend(FlushPolicy flush, Consumer<Pipeline> batch) throws NoConnectionException {
		AtomicReference<@Nullable RedisCallException> failure = new AtomicReference<>();
		this.lender.lend(flush, (connection) -> {
			CallConnection calls = new CallConnection(this.lender.address(), connection, this.replyTimeout);
			ClientIdentity identity = null;
			Coalescing coalescing = null;
			try {
				identity = ClientIdentity.of(calls).orElse(null);
				coalescing = AllowedCoalescing.of(calls, (identity != null) ? identity.version() : null);
			}
			catch (RedisCallException ex) {
				if (!ex.isLost()) {
					failure.set(ex);
					return;
				}
				// The connection is closed. The batch notices this, and gets another.
			}
			batch.accept(new Pipeline(connection, identity, coalescing, this.fences, this.lender));
		});
		RedisCallException failed = failure.get();
		if (failed != null) {
			throw new NoConnectionException(this.lender.address(), failed);
		}
	}

	void close() {
		this.borrowers.shutdown();
	}

	/**
	 * Borrows a connection in its own thread, for a job whose timeout is shorter than
	 * opening a connection may take. The job's thread cannot be interrupted instead,
	 * because Lettuce would then leak the connection that it is opening. If the job gives
	 * up, this borrower returns the connection as soon as it gets it.
	 */
	private final class Borrower implements Runnable {

		private final CompletableFuture<Boolean> inTime = new CompletableFuture<>();

		private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

		private final FlushPolicy flush;

		private final Runnable releasePermit;

		private final Consumer<Pipeline> batch;

		Borrower(FlushPolicy flush, Runnable releasePermit, Consumer<Pipeline> batch) {
			this.flush = flush;
			this.releasePermit = releasePermit;
			this.batch = batch;
		}

		@Override
		public void run() {
			Throwable failure = null;
			try {
				lend(this.flush, (pipeline) -> {
					if (this.inTime.complete(true)) {
						this.batch.accept(pipeline);
					}
				});
			}
			catch (NoConnectionException | RuntimeException | Error ex) {
				failure = ex;
			}
			this.releasePermit.run();
			this.inTime.complete(true);
			if (failure != null) {
				this.ended.completeExceptionally(failure);
			}
			else {
				this.ended.complete(null);
			}
		}

		void await(Duration timeout) throws NoConnectionException {
			if (!this.inTime.completeOnTimeout(false, timeout.toNanos(), TimeUnit.NANOSECONDS).join()) {
				throw new NoConnectionException(Pipelines.this.lender.address(),
						"none was available within the job's timeout");
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
