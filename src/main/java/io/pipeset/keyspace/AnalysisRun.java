package io.pipeset.keyspace;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.ConnectionPermits;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.engine.scan.KeyScan;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.slab.RedisErrors;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import io.pipeset.engine.slab.lookup.KeyTypes;
import io.pipeset.engine.slab.lookup.Scan;
import io.pipeset.keyspace.LargestKeys.LargestKey;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Progress.Tally;
import io.pipeset.run.Task;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

	private static final Logger logger = LoggerFactory.getLogger(AnalysisRun.class);

	private final Task task;

	private final AnalysisSettings settings;

	private final RedisNodes nodes;

	/** How long closing a connection may take. */
	private final Duration closeTimeout;

	private final ExecutorService threads;

	private final JobStop stop;

	private final KeyRateLimiter rateLimiter;

	private final Totals totals;

	/**
	 * Held shared by servers that run in parallel, and exclusively by a server that may
	 * wait for memory.
	 */
	private final ReadWriteLock memoryLock = new ReentrantReadWriteLock(true);

	private int restarts;

	/** The servers of the current or last pass. */
	private List<ServerAnalysis> servers = List.of();

	private int partialSlots;

	private Scan scan;

	private volatile boolean oneByOne;

	private volatile boolean restartRequested;

	AnalysisRun(Task task, AnalysisSettings settings, RedisNodes nodes, Duration closeTimeout, int maxPrefixes,
			ExecutorService threads) {
		this.task = task;
		this.settings = settings;
		this.nodes = nodes;
		this.closeTimeout = closeTimeout;
		this.threads = threads;
		this.stop = task.stop();
		this.rateLimiter = new KeyRateLimiter(task.rateLimit());
		this.totals = new Totals(settings, maxPrefixes, new KeyTypes(), task.memory());
		this.scan = settings.scan(1);
		task.tallies(() -> Tally.of(this.totals.keys() + this.totals.vanished(), null));
	}

	/** Runs the analysis to its end. */
	Analysis run() {
		do {
			pass();
		}
		while (this.restartRequested && !this.stop.isSet());
		List<LargestKey> largest = this.totals.largest().sorted();
		LargestLengths lengths = new LargestLengths(this, largest);
		checkSums();
		List<Analysis.Master> masters = (this.servers.stream().anyMatch(ServerAnalysis::isInCluster))
				? this.servers.stream().map(ServerAnalysis::report).toList() : null;
		return new AnalysisReport(this.task, this.totals).build(this.restarts, largest, lengths, masters,
				this.partialSlots);
	}

	/** Analyses all servers once, in the calling thread and others. */
	private void pass() {
		this.restartRequested = false;
		KeyScan walk = new KeyScan(this.nodes, this.stop, retryPolicy("", isRepeated(), this.stop::isSet));
		this.servers = walk.once().stream().map((server) -> new ServerAnalysis(this, server)).toList();
		this.scan = this.settings.scan(this.servers.size());
		this.oneByOne = this.servers.size() == 1;
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
		this.partialSlots = walk.slotsInDoubt();
		if (this.restartRequested && !this.stop.isSet()) {
			countRestart();
		}
	}

	/** Whether an error is temporary: the same command may succeed after a backoff. */
	boolean isTemporary(String error) {
		String code = RedisErrors.code(error);
		return RedisErrors.means(code, Meaning.TRANSIENT) || this.nodes.redirects(code);
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
	 * Fails the analysis if a list does not add up to the number of keys, which would be
	 * a defect.
	 */
	private void checkSums() {
		String list = this.totals.unbalanced();
		if (list != null) {
			String detail = "The list '" + list + "' of the analysis does not add up to its " + this.totals.keys()
					+ " keys, by a defect of the service";
			logger.error("Job {}: {}", this.task.id(), detail);
			this.stop.stop(Cause.INTERNAL_SERVER_ERROR, detail);
		}
	}

	/**
	 * Waits until the analysis of a server may begin: in parallel with others, or alone.
	 * @return whether it runs alone
	 */
	boolean enter() {
		boolean alone = this.oneByOne;
		memoryLock(alone).lock();
		return alone;
	}

	/** Ends what {@link #enter} began. */
	void leave(boolean alone) {
		memoryLock(alone).unlock();
	}

	private Lock memoryLock(boolean alone) {
		return (alone) ? this.memoryLock.writeLock() : this.memoryLock.readLock();
	}

	/** Analyses servers one after the other from now on, because memory is scarce. */
	void switchToOneByOne() {
		this.oneByOne = true;
	}

	boolean isOneByOne() {
		return this.oneByOne;
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

	/**
	 * Uses a connection to a server, and runs a follow-up action after the connection is
	 * returned.
	 * @param use uses the connection and returns the follow-up action
	 * @param unreachable returns the follow-up action if there is no connection
	 */
	void withConnection(RedisNode node, Function<LookupExchange, Runnable> use,
			Function<NoConnectionException, Runnable> unreachable) {
		Duration timeout = this.settings.timeout();
		AtomicReference<Runnable> followUp = new AtomicReference<>(LookupExchange::doNothing);
		long requestedNanos = System.nanoTime();
		if (acquire(node.permits())) {
			try {
				node.run(FlushPolicy.close(), timeout, this.stop, (pipeline) -> {
					this.task.clock().waited(System.nanoTime() - requestedNanos);
					try (LookupExchange exchange = new LookupExchange(pipeline, timeout, this.closeTimeout,
							this.stop)) {
						followUp.set(use.apply(exchange));
					}
				});
			}
			catch (NoConnectionException ex) {
				this.task.clock().waited(System.nanoTime() - requestedNanos);
				followUp.set((node.isReplaced()) ? LookupExchange::doNothing : unreachable.apply(ex));
			}
		}
		Objects.requireNonNull(followUp.get()).run();
	}

	private boolean acquire(ConnectionPermits permits) {
		boolean acquired = false;
		try {
			acquired = permits.acquire(false, this.settings.timeout().toNanos(), this.stop);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (!acquired && !this.stop.isSet()) {
			this.stop.stop(Cause.REDIS_UNREACHABLE,
					"None of the " + permits.count() + " connections became free within the timeout of "
							+ DurationText.of(this.settings.timeout())
							+ ": send the analysis again later, or raise pipeset.pipeline.max-connections");
		}
		return acquired;
	}

	/**
	 * Creates a retry policy for one server, or for all of them.
	 * @param server the prefix of messages; empty if the server need not be named
	 * @param hasBegun whether the analysis has counted keys
	 * @param isOver whether the result is no longer needed
	 */
	AnalysisRetryPolicy retryPolicy(String server, boolean hasBegun, BooleanSupplier isOver) {
		return new AnalysisRetryPolicy(this.settings.timeout(), this.stop, server, hasBegun, isOver);
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

	KeyRateLimiter rateLimiter() {
		return this.rateLimiter;
	}

	/** The SCAN command of this pass, without its cursor. */
	Scan scan() {
		return this.scan;
	}

}
