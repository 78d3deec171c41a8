package io.pipeset.keyspace;

import io.pipeset.engine.pipeline.Pipeline;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.ScanPosition.Standing;
import io.pipeset.engine.scan.ServerScan;
import io.pipeset.engine.slab.RedisErrors;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import io.pipeset.record.memory.MemoryLimitException;

/**
 * Analyses one server in one thread. It runs one {@link ScanSession} after the other,
 * each on a connection, until all keys are counted.
 */
final class ServerAnalysis {

	private final AnalysisRun run;

	private final ServerScan walk;

	private final PagePool pages;

	private final AnalysisRetryPolicy retryPolicy;

	/** Whether no other server is analysed at the same time. */
	private boolean alone;

	private boolean slotsChecked;

	private long keys;

	/** Creates an analysis that has not begun. */
	ServerAnalysis(AnalysisRun run, ServerScan walk) {
		this.run = run;
		this.walk = walk;
		this.slotsChecked = !walk.isInCluster();
		this.pages = new PagePool(run.task().memory());
		this.retryPolicy = retryPolicy(run.isRepeated());
	}

	private AnalysisRetryPolicy retryPolicy(boolean hasBegun) {
		String server = (isInCluster()) ? this.walk.node().name() + ": " : "";
		return this.run.retryPolicy(server, hasBegun, this.run::isPassOver);
	}

	/** Runs to the end of the keys, or until the pass is over. */
	void run() {
		this.alone = this.run.enter();
		try {
			while (!isComplete() && !this.run.isPassOver()) {
				step();
			}
		}
		catch (MemoryLimitException ex) {
			this.run.stopForMemory(ex);
		}
		finally {
			this.pages.releaseMemory();
			this.run.leave(this.alone);
		}
	}

	boolean isInCluster() {
		return this.walk.isInCluster();
	}

	/** Whether all keys that were at the server during the whole scan were counted. */
	boolean isComplete() {
		return this.walk.isFinished() && this.slotsChecked;
	}

	/** The part of the result about this master of a cluster. */
	Analysis.Master report() {
		return new Analysis.Master(this.walk.node().name(), this.keys, isComplete());
	}

	private void step() {
		if (!this.alone && this.run.isOneByOne()) {
			this.pages.releaseMemory();
			this.run.leave(false);
			this.alone = this.run.enter();
		}
		else if (this.walk.isFinished()) {
			this.slotsChecked = checkSlots();
		}
		else {
			long early = this.run.rateLimiter().nanosUntilDue();
			if (early == 0 || !this.run.task().stop().await(early)) {
				this.run.withConnection(this.walk.node(), this::runSession, (ex) -> () -> backOffAfter(ex));
			}
		}
	}

	/**
	 * Runs a scan session. Returns the action to run after the connection is returned.
	 */
	private Runnable runSession(LookupExchange exchange) {
		Pipeline pipeline = exchange.pipeline();
		Standing standing = this.walk.place()
			.at(pipeline.runId(), pipeline.isRunIdPending(), pipeline.firstLentNanos());
		if (standing == Standing.UNKNOWN) {
			return () -> backOffAfter("Redis has not yet reported whether it was restarted");
		}
		if (standing == Standing.INVALID) {
			this.run.requestRestart();
			return LookupExchange::doNothing;
		}
		try (ScanSession session = new ScanSession(this.run, this.walk, this.pages, exchange, this::yields)) {
			session.run();
			this.keys += session.keys();
			if (session.hasCounted()) {
				this.retryPolicy.markBegun();
			}
			String loss = exchange.loss();
			String temporary = session.temporaryError();
			if (loss != null) {
				return () -> backOffAfter(loss);
			}
			if (temporary != null) {
				return () -> refused(temporary);
			}
			if (session.lacksMemory() && !this.alone) {
				// No thread may wait for memory while other threads of the analysis hold
				// some.
				this.run.switchToOneByOne();
				return LookupExchange::doNothing;
			}
			return session.reserveMissing();
		}
	}

	/**
	 * Whether other jobs wait for the connection, or the analysis is switching to one
	 * server at a time.
	 */
	private boolean yields() {
		return this.walk.node().permits().waiting() > 0 || (!this.alone && this.run.isOneByOne());
	}

	private void refused(String error) {
		if (!RedisErrors.means(RedisErrors.code(error), Meaning.REDIRECTS) || checkSlots()) {
			backOffAfter("Redis answered " + error);
		}
	}

	/**
	 * Checks which slots the server still has. If it has none, backs off and returns
	 * {@code false}.
	 */
	private boolean checkSlots() {
		boolean served = this.walk.look(retryPolicy(true));
		if (!served) {
			backOffAfter("Redis is no longer a master of the cluster");
		}
		return served;
	}

	private void backOffAfter(NoConnectionException failure) {
		this.retryPolicy.backOffAfter(failure);
		restartIfReplaced();
	}

	private void backOffAfter(String detail) {
		this.retryPolicy.backOffAfter(detail);
		restartIfReplaced();
	}

	private void restartIfReplaced() {
		if (this.walk.isReplaced()) {
			this.run.requestRestart();
		}
	}

}
