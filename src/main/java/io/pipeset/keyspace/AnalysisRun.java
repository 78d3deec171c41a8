package io.pipeset.keyspace;

import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.scan.KeyScan;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Progress.Tally;
import io.pipeset.run.Task;

/**
 * Runs one analysis. A pass scans all servers in parallel. If a server is restarted or
 * replaced, the totals are invalid: the pass ends and a new one begins. After a complete
 * pass the lengths of the largest keys are queried.
 */
final class AnalysisRun {

	/**
	 * Bounds the passes, because an analysis that is always interrupted would never end.
	 */
	private static final int MAX_RESTARTS = 10;

	/** The most servers that are analysed at the same time, each by one thread. */
	private static final int MAX_PARALLEL_SERVERS = 16;

	private final Task task;

	private final AnalysisSettings settings;

	private final RedisNodes nodes;

	private final ExecutorService threads;

	private final JobStop stop;

	private final KeyRate rate;

	private final Totals totals;

	/**
	 * Held shared while pages are in memory, and exclusively by a thread that may wait
	 * for memory.
	 */
	private final ReadWriteLock pages = new ReentrantReadWriteLock(true);

	private int restarts;

	/** The servers of the current or last pass. */
	private List<ServerAnalysis> servers = List.of();

	private int partialSlots;

	private int pageKeys;

	private volatile boolean restartRequested;

	AnalysisRun(Task task, AnalysisSettings settings, RedisNodes nodes, int maxPrefixes, ExecutorService threads) {
		this.task = task;
		this.settings = settings;
		this.nodes = nodes;
		this.threads = threads;
		this.stop = task.stop();
		this.rate = new KeyRate(Objects.requireNonNull(task.rateLimit()));
		this.totals = new Totals(settings, maxPrefixes, task.memory());
		task.tallies(() -> Tally.of(this.totals.examined(), null));
	}

	/** Runs the analysis to its end. */
	Analysis run() {
		do {
			pass();
		}
		while (this.restartRequested && !this.stop.isSet());
		List<Analysis.Master> masters = (this.servers.stream().anyMatch(ServerAnalysis::isInCluster))
				? this.servers.stream().map(ServerAnalysis::report).toList() : null;
		return new AnalysisReport(this.task, this.totals).build(this.restarts, new LargestLengths(this), masters,
				this.partialSlots);
	}

	/** Analyses all servers once, in the calling thread and others. */
	private void pass() {
		this.restartRequested = false;
		KeyScan scan = new KeyScan(this.nodes, this.stop,
				new AnalysisRetryPolicy(this, null, isRepeated(), this.stop::isSet));
		this.servers = scan.once().stream().map((server) -> new ServerAnalysis(this, server)).toList();
		this.pageKeys = this.settings.pageKeys(this.servers.size());
		Queue<ServerAnalysis> waiting = new ConcurrentLinkedQueue<>(this.servers);
		List<CompletableFuture<Void>> others = Stream
			.generate(() -> CompletableFuture.runAsync(() -> runEach(waiting), this.threads))
			.limit(Math.max(0, Math.min(this.servers.size(), MAX_PARALLEL_SERVERS) - 1))
			.toList();
		try {
			runEach(waiting);
		}
		finally {
			CompletableFuture.allOf(others.toArray(CompletableFuture[]::new)).join();
		}
		this.partialSlots = scan.slotsInDoubt();
		if (this.restartRequested && !this.stop.isSet()) {
			countRestart();
		}
	}

	private void runEach(Queue<ServerAnalysis> waiting) {
		try {
			for (ServerAnalysis next = waiting.poll(); next != null; next = waiting.poll()) {
				next.run();
			}
		}
		catch (RuntimeException | Error ex) {
			this.stop.becauseOfDefect(ex);
			throw ex;
		}
	}

	private void countRestart() {
		this.totals.clear();
		if (++this.restarts > MAX_RESTARTS) {
			this.stop.stop(Cause.REDIS_LOST, "Redis was restarted more than " + MAX_RESTARTS
					+ " times, and the analysis began again each time. Send it again when Redis is stable.");
		}
	}

	/** Stops the analysis because memory is short. */
	void stopForMemory(MemoryLimitException ex) {
		this.stop.stop(Cause.LIMIT, "The keys of one page of SCAN, or the largest keys, do not fit into memory: "
				+ ex.getMessage() + ". Set a smaller 'scanCount' or 'top', or raise the memory budget");
	}

	/**
	 * Runs an action that reserves memory.
	 * @param alone whether no other thread may have pages meanwhile. Only then may the
	 * action wait for memory
	 * @param action returns what to do without pages
	 */
	void holdPages(boolean alone, Supplier<Runnable> action) {
		Runnable followUp;
		Lock lock = (alone) ? this.pages.writeLock() : this.pages.readLock();
		lock.lock();
		try {
			followUp = action.get();
		}
		finally {
			lock.unlock();
		}
		followUp.run();
	}

	/** Ends this pass and requests a new one. */
	void requestRestart() {
		this.restartRequested = true;
	}

	boolean isPassOver() {
		return this.restartRequested || this.stop.isSet();
	}

	/** Whether this is not the first pass. */
	boolean isRepeated() {
		return this.restarts > 0;
	}

	Task task() {
		return this.task;
	}

	RedisNodes nodes() {
		return this.nodes;
	}

	AnalysisSettings settings() {
		return this.settings;
	}

	Totals totals() {
		return this.totals;
	}

	KeyRate rate() {
		return this.rate;
	}

	/** The COUNT of SCAN in this pass. */
	int pageKeys() {
		return this.pageKeys;
	}

}
