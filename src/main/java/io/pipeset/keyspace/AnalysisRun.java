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
import io.pipeset.engine.scan.KeyWalk;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.slab.RedisErrors;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import io.pipeset.engine.slab.lookup.KeyTypes;
import io.pipeset.engine.slab.lookup.Scan;
import io.pipeset.job.run.Task;
import io.pipeset.keyspace.LargestKeys.LargestKey;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Progress.Tally;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The run of one analysis: passes over all servers, side by side, until one pass meets no
 * restart, and then a look at the largest keys. If a server was started anew or replaced,
 * the pass is over, as the totals so far mean nothing.
 */
final class AnalysisRun {

	/** An analysis that has to begin again and again would never end. */
	private static final int MOST_RESTARTS = 10;

	/** The servers that are analysed at the same time, each by a thread. */
	private static final int SIDE_BY_SIDE = 16;

	private static final Logger logger = LoggerFactory.getLogger(AnalysisRun.class);

	private final Task task;

	private final AnalysisSettings settings;

	private final RedisNodes nodes;

	/** The longest that closing a connection may take. */
	private final Duration closing;

	private final ExecutorService threads;

	private final JobStop stop;

	private final KeyPace pace;

	private final Totals totals;

	/**
	 * Held in common by servers side by side, and alone by one that may wait for memory.
	 */
	private final ReadWriteLock order = new ReentrantReadWriteLock(true);

	private int restarts;

	/** The servers of the last pass. */
	private List<ServerAnalysis> servers = List.of();

	private int partialSlots;

	private Scan scan;

	private volatile boolean oneByOne;

	private volatile boolean anew;

	AnalysisRun(Task task, AnalysisSettings settings, RedisNodes nodes, Duration closing, int maxPrefixes,
			ExecutorService threads) {
		this.task = task;
		this.settings = settings;
		this.nodes = nodes;
		this.closing = closing;
		this.threads = threads;
		this.stop = task.stop();
		this.pace = new KeyPace(task.rateLimit());
		this.totals = new Totals(settings, maxPrefixes, new KeyTypes(), task.memory());
		this.scan = settings.scan(1);
		task.tallies(() -> Tally.of(this.totals.keys() + this.totals.vanished(), null));
	}

	/** Runs the analysis, to its end. */
	Analysis run() {
		do {
			pass();
		}
		while (this.anew && !this.stop.isSet());
		List<LargestKey> largest = this.totals.largest().sorted();
		LargestLengths lengths = new LargestLengths(this, largest);
		balance();
		List<Analysis.Master> masters = (this.servers.stream().anyMatch(ServerAnalysis::isInCluster))
				? this.servers.stream().map(ServerAnalysis::report).toList() : null;
		return new AnalysisReport(this.task, this.totals).draw(this.restarts, largest, lengths, masters,
				this.partialSlots);
	}

	/** Analyses all servers, in the calling thread and others, until the pass is over. */
	private void pass() {
		this.anew = false;
		KeyWalk walk = new KeyWalk(this.nodes, this.stop, patience("", isRepeated(), this.stop::isSet));
		this.servers = walk.once().stream().map((server) -> new ServerAnalysis(this, server)).toList();
		this.scan = this.settings.scan(this.servers.size());
		this.oneByOne = this.servers.size() == 1;
		Queue<ServerAnalysis> waiting = new ConcurrentLinkedQueue<>(this.servers);
		List<CompletableFuture<Void>> others = Stream
			.generate(() -> CompletableFuture.runAsync(() -> runEach(waiting), this.threads))
			.limit(Math.max(0, Math.min(this.servers.size(), SIDE_BY_SIDE) - 1))
			.toList();
		try {
			runEach(waiting);
		}
		finally {
			CompletableFuture.allOf(others.toArray(CompletableFuture[]::new)).join();
		}
		this.partialSlots = walk.slotsInDoubt();
		if (this.anew && !this.stop.isSet()) {
			countRestart();
		}
	}

	/** Whether a command that was refused may well run in a moment. */
	boolean passes(String error) {
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
		if (++this.restarts > MOST_RESTARTS) {
			this.stop.because(Cause.REDIS_LOST, "Redis was started anew more than " + MOST_RESTARTS
					+ " times, after each of which the analysis began again");
		}
	}

	/** Stops the analysis, as there is not enough memory. */
	void stop(MemoryLimitException ex) {
		this.stop.because(Cause.LIMIT,
				"The keys of one page of SCAN, or the largest keys, do not fit into memory: " + ex.getMessage()
						+ ". Ask for smaller pages with 'scanCount' and for fewer of the largest keys with 'top',"
						+ " or raise the budget");
	}

	/** Sees to it that each list adds up to the number of keys. */
	private void balance() {
		String list = this.totals.unbalanced();
		if (list != null) {
			String detail = "The list '" + list + "' of the analysis does not add up to its " + this.totals.keys()
					+ " keys, by a defect of the service";
			logger.error("Job {}: {}", this.task.id(), detail);
			this.stop.because(Cause.INTERNAL_SERVER_ERROR, detail);
		}
	}

	/**
	 * Lets the analysis of a server begin: side by side with others, or as soon as no
	 * other runs.
	 * @return whether it runs alone
	 */
	boolean enter() {
		boolean alone = this.oneByOne;
		order(alone).lock();
		return alone;
	}

	/** The analysis of a server that has entered ends. */
	void leave(boolean alone) {
		order(alone).unlock();
	}

	private Lock order(boolean alone) {
		return (alone) ? this.order.writeLock() : this.order.readLock();
	}

	/** Has servers analysed one after the other from now on, as memory is scarce. */
	void goOneByOne() {
		this.oneByOne = true;
	}

	boolean isOneByOne() {
		return this.oneByOne;
	}

	/** Ends this pass, so that another one begins. */
	void beginAnew() {
		this.anew = true;
	}

	boolean isPassOver() {
		return this.anew || this.stop.isSet();
	}

	/** Whether this is not the first pass. */
	boolean isRepeated() {
		return this.restarts > 0;
	}

	/**
	 * Has a connection used, and does what is left to do when it is given back.
	 * @param use uses it, and returns what is left to do
	 * @param unreachable tells what is left to do if there is no connection
	 */
	void converse(RedisNode node, Function<LookupExchange, Runnable> use,
			Function<NoConnectionException, Runnable> unreachable) {
		Duration timeout = this.settings.timeout();
		AtomicReference<Runnable> then = new AtomicReference<>(LookupExchange::doNothing);
		long asked = System.nanoTime();
		if (acquire(node.permits())) {
			try {
				node.run(FlushPolicy.close(), timeout, this.stop, (pipeline) -> {
					this.task.clock().waited(System.nanoTime() - asked);
					try (LookupExchange conversation = new LookupExchange(pipeline, timeout, this.closing, this.stop)) {
						then.set(use.apply(conversation));
					}
				});
			}
			catch (NoConnectionException ex) {
				this.task.clock().waited(System.nanoTime() - asked);
				then.set((node.isReplaced()) ? LookupExchange::doNothing : unreachable.apply(ex));
			}
		}
		Objects.requireNonNull(then.get()).run();
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
			this.stop.because(Cause.REDIS_UNREACHABLE,
					"None of the " + permits.count() + " connections became free within the timeout of "
							+ DurationText.of(this.settings.timeout())
							+ ": send the analysis again later, or raise pipeset.pipeline.max-connections");
		}
		return acquired;
	}

	/**
	 * The patience with one server, or with all of them.
	 * @param server begins the messages; empty where it need not be named
	 * @param hasBegun whether the analysis has begun to look at keys
	 * @param isOver whether nobody waits for an answer any longer
	 */
	AnalysisRetryPolicy patience(String server, boolean hasBegun, BooleanSupplier isOver) {
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

	KeyPace pace() {
		return this.pace;
	}

	/** The pages to ask for. */
	Scan scan() {
		return this.scan;
	}

}
