package io.pipeset.keyspace;

import io.pipeset.engine.pipeline.Pipeline;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.ScanPosition.Standing;
import io.pipeset.engine.scan.ServerWalk;
import io.pipeset.engine.slab.RedisErrors;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import io.pipeset.record.memory.MemoryLimitException;

/**
 * The analysis of one server, in one thread: one {@link ScanSession} after the other,
 * each on a connection, until all keys are looked at.
 */
final class ServerAnalysis {

	private final AnalysisRun run;

	private final ServerWalk walk;

	private final PagePool pages;

	private final AnalysisRetryPolicy patience;

	/** Whether no other server is analysed meanwhile. */
	private boolean alone;

	private boolean slotsAreKnown;

	private long keys;

	/** An analysis that has not begun. */
	ServerAnalysis(AnalysisRun run, ServerWalk walk) {
		this.run = run;
		this.walk = walk;
		this.slotsAreKnown = !walk.isInCluster();
		this.pages = new PagePool(run.task().memory());
		this.patience = patience(run.isRepeated());
	}

	private AnalysisRetryPolicy patience(boolean hasBegun) {
		String server = (isInCluster()) ? this.walk.node().name() + ": " : "";
		return this.run.patience(server, hasBegun, this.run::isPassOver);
	}

	/** Goes on to the end, or until the pass is over. */
	void run() {
		this.alone = this.run.enter();
		try {
			while (!isComplete() && !this.run.isPassOver()) {
				goOn();
			}
		}
		catch (MemoryLimitException ex) {
			this.run.stop(ex);
		}
		finally {
			this.pages.giveRoom();
			this.run.leave(this.alone);
		}
	}

	boolean isInCluster() {
		return this.walk.isInCluster();
	}

	/** Whether all keys were looked at that were at the server all the time. */
	boolean isComplete() {
		return this.walk.isFinished() && this.slotsAreKnown;
	}

	/** The keys and the end of one master of a cluster. */
	Analysis.Master report() {
		return new Analysis.Master(this.walk.node().name(), this.keys, isComplete());
	}

	private void goOn() {
		if (!this.alone && this.run.isOneByOne()) {
			this.pages.giveRoom();
			this.run.leave(false);
			this.alone = this.run.enter();
		}
		else if (this.walk.isFinished()) {
			this.slotsAreKnown = looksAtSlots();
		}
		else {
			long early = this.run.pace().early();
			if (early == 0 || !this.run.task().stop().await(early)) {
				this.run.converse(this.walk.node(), this::leg, (ex) -> () -> pauseAfter(ex));
			}
		}
	}

	/** Runs a leg; returns what is to be done once the connection is given back. */
	private Runnable leg(LookupExchange conversation) {
		Pipeline pipeline = conversation.pipeline();
		Standing standing = this.walk.place()
			.at(pipeline.runId(), pipeline.tellsRunIdLater(), pipeline.firstLentNanos());
		if (standing == Standing.NOT_TOLD) {
			return () -> pauseAfter("Redis does not tell yet whether it was started anew");
		}
		if (standing == Standing.MEANS_NOTHING) {
			this.run.beginAnew();
			return LookupExchange::doNothing;
		}
		try (ScanSession leg = new ScanSession(this.run, this.walk, this.pages, conversation, this::yields)) {
			leg.run();
			this.keys += leg.keys();
			if (leg.hasCounted()) {
				this.patience.begun();
			}
			String loss = conversation.loss();
			String passing = leg.passingError();
			if (loss != null) {
				return () -> pauseAfter(loss);
			}
			if (passing != null) {
				return () -> refused(passing);
			}
			if (leg.isInWant() && !this.alone) {
				// No thread waits for memory while others hold some.
				this.run.goOneByOne();
				return LookupExchange::doNothing;
			}
			return leg.want();
		}
	}

	/** Whether others wait for the connection, or for this analysis to make room. */
	private boolean yields() {
		return this.walk.node().permits().waiting() > 0 || (!this.alone && this.run.isOneByOne());
	}

	private void refused(String error) {
		if (!RedisErrors.means(RedisErrors.code(error), Meaning.REDIRECTS) || looksAtSlots()) {
			pauseAfter("Redis answered " + error);
		}
	}

	/** Looks which slots are still there; {@code false} after a pause if none is. */
	private boolean looksAtSlots() {
		boolean known = this.walk.look(patience(true));
		if (!known) {
			pauseAfter("Redis is no longer a master of the cluster");
		}
		return known;
	}

	private void pauseAfter(NoConnectionException failure) {
		this.patience.pauseAfter(failure);
		beginAnewIfReplaced();
	}

	private void pauseAfter(String detail) {
		this.patience.pauseAfter(detail);
		beginAnewIfReplaced();
	}

	private void beginAnewIfReplaced() {
		if (this.walk.isReplaced()) {
			this.run.beginAnew();
		}
	}

}
