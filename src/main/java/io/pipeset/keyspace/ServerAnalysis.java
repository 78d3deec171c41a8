package io.pipeset.keyspace;

import java.util.Map;

import io.pipeset.engine.pipeline.KeyPage;
import io.pipeset.engine.pipeline.KeyQuery;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.scan.ServerScan;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.record.memory.MemoryReservation;

/**
 * Analyses one server in one thread, page by page, until all keys are counted. It holds
 * none of the connections of jobs. It reserves memory for each query. A thread waits for
 * memory only while it holds no connection, and no other thread of the run has pages.
 */
final class ServerAnalysis {

	/** The most memory of a page while other threads have pages, too. */
	private static final long PAGE_BYTES = 128 << 10;

	private final AnalysisRun run;

	private final ServerScan scan;

	private final Totals totals;

	private final MemoryReservation memory;

	private final AnalysisRetryPolicy retryPolicy;

	/** The memory that the next page may need. */
	private long pageBytes = PAGE_BYTES;

	/** Whether the next page may have to wait for memory, and so for other pages. */
	private boolean alone;

	private boolean slotsChecked;

	private long keys;

	/** Creates an analysis that has not begun. */
	ServerAnalysis(AnalysisRun run, ServerScan scan) {
		this.run = run;
		this.scan = scan;
		this.totals = run.totals();
		this.memory = run.task().memory();
		this.slotsChecked = !scan.isInCluster();
		this.retryPolicy = retryPolicy(run.isRepeated());
	}

	private AnalysisRetryPolicy retryPolicy(boolean hasBegun) {
		return new AnalysisRetryPolicy(this.run, (isInCluster()) ? this.scan.node().name() : null, hasBegun,
				this.run::isPassOver);
	}

	/** Runs to the end of the keys, or until the pass is over. */
	void run() {
		try {
			while (!isComplete() && !this.run.isPassOver()) {
				step();
			}
		}
		catch (MemoryLimitException ex) {
			this.run.stopForMemory(ex);
		}
	}

	boolean isInCluster() {
		return this.scan.isInCluster();
	}

	/** Whether all keys that were at the server during the whole scan were counted. */
	boolean isComplete() {
		return this.scan.isFinished() && this.slotsChecked;
	}

	/** The part of the result about this master of a cluster. */
	Analysis.Master report() {
		return new Analysis.Master(this.scan.node().name(), this.keys, isComplete());
	}

	private void step() {
		long early = this.run.rate().nanosUntilDue();
		if (this.scan.isFinished()) {
			this.slotsChecked = checkSlots();
		}
		else if (early > 0) {
			boolean unused = this.run.task().stop().await(early);
		}
		else {
			this.run.holdPages(this.alone, this::examine);
			if (this.totals.unreserved() > 0) {
				this.run.holdPages(true, this::reserveLargest);
			}
		}
	}

	/** Queries pages in reserved memory. Returns what to do without it. */
	private Runnable examine() {
		long bytes = (this.alone) ? this.pageBytes : KeyPage.PAGES * PAGE_BYTES;
		if (this.alone) {
			this.memory.reserve(bytes);
		}
		else if (!this.memory.tryReserve(bytes)) {
			this.alone = true;
			return ServerAnalysis::doNothing;
		}
		try {
			return query();
		}
		catch (RedisCallException ex) {
			return () -> backOffAfter("SCAN", ex);
		}
		finally {
			this.memory.release(bytes);
		}
	}

	private Runnable reserveLargest() {
		this.totals.reserve();
		return ServerAnalysis::doNothing;
	}

	private static void doNothing() {
	}

	private Runnable query() {
		AnalysisSettings settings = this.run.settings();
		int samples = (this.totals.bytesLeftOut() == null) ? settings.samples() : 0;
		KeyQuery query = new KeyQuery(settings.filter(), this.run.pageKeys(), this.scan::counts, samples,
				this.pageBytes, settings.timeout(), this.run::isPassOver, this::goesOn);
		return this.scan.node()
			.examine(this.scan::place, query, this::isTaken)
			.map(this::handle)
			.orElse(ServerAnalysis::doNothing);
	}

	/** Whether to query a page ahead. */
	private boolean goesOn() {
		return !this.alone && !this.run.rate().isLimited() && !this.run.isPassOver() && this.totals.unreserved() == 0;
	}

	private boolean isTaken(KeyPage page) {
		boolean whole = !page.isRestarted() && !page.isTooLarge() && page.refusals().isEmpty();
		if (whole) {
			take(page);
		}
		return whole;
	}

	private void take(KeyPage page) {
		prepareFor(page.bytes());
		this.totals.add(page);
		this.scan.taken(page.next());
		this.run.rate().add(page.keys().size() + page.vanished());
		this.retryPolicy.markBegun();
		this.keys += page.keys().size();
	}

	/** A page may have some more keys when it is scanned again, and so may the next. */
	private void prepareFor(long bytes) {
		this.alone = bytes > PAGE_BYTES;
		this.pageBytes = (this.alone) ? bytes + bytes / 8 : PAGE_BYTES;
	}

	private Runnable handle(KeyPage page) {
		if (page.isRestarted()) {
			this.run.requestRestart();
			return ServerAnalysis::doNothing;
		}
		if (page.isTooLarge()) {
			prepareFor(page.bytes());
			return ServerAnalysis::doNothing;
		}
		for (Map.Entry<String, RedisCallException> refused : page.refusals().entrySet()) {
			RedisCallException failure = refused.getValue();
			if (!refused.getKey().equals(KeyPage.MEMORY_USAGE) || this.retryPolicy.isTemporary(failure)) {
				return () -> backOffAfter(refused.getKey(), failure);
			}
			this.totals.omitBytes(this.retryPolicy.refusal(refused.getKey(), failure));
		}
		take(page);
		return ServerAnalysis::doNothing;
	}

	private void backOffAfter(String command, RedisCallException failure) {
		if (!failure.isRedirected() || checkSlots()) {
			this.retryPolicy.backOffAfter(command, failure);
			restartIfReplaced();
		}
	}

	/**
	 * Checks which slots the server still has. If it has none, backs off and returns
	 * {@code false}.
	 */
	private boolean checkSlots() {
		boolean served = this.scan.look(retryPolicy(true));
		if (!served) {
			this.retryPolicy.backOffAfter("Redis is no longer a master of the cluster");
			restartIfReplaced();
		}
		return served;
	}

	private void restartIfReplaced() {
		if (this.scan.isReplaced()) {
			this.run.requestRestart();
		}
	}

}
