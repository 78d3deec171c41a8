package io.pipeset.keyspace;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.function.BooleanSupplier;

import io.pipeset.engine.scan.ServerScan;
import io.pipeset.engine.slab.lookup.KeyLookup;
import io.pipeset.engine.slab.lookup.KeyPage;
import io.pipeset.engine.slab.lookup.Question;
import io.pipeset.engine.slab.lookup.Scan;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * The part of a server's key scan that uses one connection. It sends the SCAN for the
 * next page before the lookups of the previous page, so that Redis always has work. A
 * session ends with the scan, with its connection, or when it yields the connection to
 * others.
 */
final class ScanSession implements AutoCloseable {

	/** The most lookups in flight. */
	private static final int WINDOW = 8;

	/** The most keys of one lookup, which then has about 1,000 commands. */
	private static final int KEYS_OF_LOOKUP = 333;

	/** The bytes of keys after which no key is added to a lookup. */
	private static final int BYTES_OF_LOOKUP = 256 << 10;

	/** The most pages whose lookups are incomplete, so that they are not counted yet. */
	private static final int PAGES = 3;

	private final AnalysisRun run;

	private final ServerScan walk;

	private final Totals totals;

	private final PagePool pages;

	private final LookupExchange exchange;

	private final BooleanSupplier yields;

	private final Deque<PendingPage> pending = new ArrayDeque<>();

	/**
	 * The cursor of the next page; {@code null} if it is not known yet, or the scan has
	 * ended.
	 */
	private @Nullable String nextCursor;

	/** The page that SCAN in flight fills. */
	private @Nullable PendingPage scanning;

	/** A page that did not fit into free memory. */
	private @Nullable KeyPage oversized;

	/**
	 * The bytes that were not free for the largest keys of a page; 0 for none.
	 */
	private long missingBytes;

	private @Nullable String temporaryError;

	private boolean counted;

	/** How many keys this session has counted. */
	private long keys;

	/**
	 * Creates a session that has sent nothing.
	 * @param yields whether to give up the connection after the next counted page
	 */
	ScanSession(AnalysisRun run, ServerScan walk, PagePool pages, LookupExchange exchange, BooleanSupplier yields) {
		this.run = run;
		this.walk = walk;
		this.totals = run.totals();
		this.pages = pages;
		this.exchange = exchange;
		this.yields = yields;
		this.nextCursor = walk.place().cursor();
	}

	/** Scans until nothing is in flight. */
	void run() {
		do {
			if (!isOver()) {
				sendAll();
			}
		}
		while (this.exchange.await());
	}

	/** Whether to send nothing more. */
	private boolean isOver() {
		return this.exchange.loss() != null || this.temporaryError != null || this.missingBytes > 0
				|| this.run.isPassOver();
	}

	private void sendAll() {
		while (this.exchange.inFlight() < WINDOW) {
			KeyLookup lookup = new KeyLookup(this.totals.types());
			boolean scans = scanNext(lookup);
			PendingPage page = lookUpNext(lookup);
			if (!scans && page == null) {
				return;
			}
			this.exchange.send(lookup, () -> onAnswered(lookup, page));
		}
	}

	private boolean scanNext(KeyLookup lookup) {
		if (this.nextCursor == null || this.pending.size() >= PAGES || this.oversized != null || mustNotScan()) {
			return false;
		}
		PendingPage page = new PendingPage(this.pages.take(), System.nanoTime());
		lookup.scan(this.run.scan(), this.nextCursor, page.keys, () -> this.exchange.post(() -> onScanned(page)));
		this.nextCursor = null;
		this.scanning = page;
		return true;
	}

	/**
	 * Whether to send no SCAN now: the next page is not due, or others need the
	 * connection.
	 */
	private boolean mustNotScan() {
		return this.run.rateLimiter().nanosUntilDue() > 0 || (this.counted && this.yields.getAsBoolean());
	}

	private @Nullable PendingPage lookUpNext(KeyLookup lookup) {
		for (PendingPage page : this.pending) {
			int from = page.sent;
			if (from < page.keys.count()) {
				page.sent = lookupEnd(page.keys, from);
				page.inFlight++;
				lookup.keys(page.keys, from, page.sent, samples());
				return page;
			}
		}
		return null;
	}

	private int samples() {
		return (this.totals.bytesLeftOut() == null) ? this.run.settings().samples() : 0;
	}

	private static int lookupEnd(KeyPage page, int from) {
		int limit = Math.min(page.count(), from + KEYS_OF_LOOKUP);
		int to = from + 1;
		while (to < limit && page.end(to) - page.start(from) <= BYTES_OF_LOOKUP) {
			to++;
		}
		return to;
	}

	private void onScanned(PendingPage page) {
		KeyPage keys = page.keys;
		this.scanning = null;
		if (keys.isTooLarge()) {
			this.oversized = keys;
			return;
		}
		this.nextCursor = keys.cursor().equals(Scan.START) ? null : keys.cursor();
		if (this.walk.isInCluster()) {
			keys.retain(this.walk::counts);
		}
		this.run.rateLimiter().add(keys.count());
		this.pending.add(page);
		countComplete();
	}

	private void onAnswered(KeyLookup lookup, @Nullable PendingPage page) {
		String leftOut = null;
		for (Map.Entry<Question, String> refused : lookup.errors().entrySet()) {
			String error = refused.getValue();
			Question question = refused.getKey();
			if (this.run.isTemporary(error)) {
				this.temporaryError = error;
			}
			else if (question == Question.MEMORY_USAGE) {
				leftOut = refused(question, error);
			}
			else {
				this.run.task().stop().stop(Cause.REDIS_REFUSES, refusal(question, error));
			}
		}
		if (this.temporaryError == null && !this.run.isPassOver()) {
			if (leftOut != null) {
				this.totals.omitBytes(leftOut);
			}
			if (page != null) {
				page.inFlight--;
				countComplete();
			}
		}
	}

	/**
	 * The message names the master in a cluster, because each master has its own ACL
	 * users.
	 */
	private String refused(Question question, String error) {
		return "Redis" + ((this.walk.isInCluster()) ? " at " + this.walk.node().name() : "") + " refused "
				+ question.command() + ": " + error;
	}

	private String refusal(Question question, String error) {
		return refused(question, error) + ((error.startsWith("NOPERM") || error.startsWith("ERR unknown command"))
				? ". Allow it by ACL SETUSER <user> " + question.permission()
						+ "; if the user may read only some keys, select them with 'match'"
				: "");
	}

	/** Counts the pages whose lookups are complete, in the order of the scan. */
	private void countComplete() {
		PendingPage first = this.pending.peek();
		while (first != null && first.isComplete() && this.missingBytes == 0 && !this.run.isPassOver()) {
			int keys = this.totals.add(first.keys);
			if (keys < 0) {
				this.missingBytes = this.totals.bytesNeeded(first.keys);
				return;
			}
			String runId = this.exchange.pipeline().runId();
			this.walk.taken(this.walk.place().next(first.keys.cursor(), runId, first.requestedNanos));
			this.pages.give(first.keys);
			this.pending.remove();
			this.counted = true;
			this.keys += keys;
			first = this.pending.peek();
		}
	}

	/** Returns the pages that were not counted to the pool. */
	@Override
	public void close() {
		if (this.exchange.inFlight() == 0) {
			this.pending.forEach((page) -> this.pages.give(page.keys));
			if (this.scanning != null) {
				this.pages.give(this.scanning.keys);
			}
		}
		if (this.oversized != null) {
			this.pages.give(this.oversized);
		}
	}

	/** Whether at least one page was counted. */
	boolean hasCounted() {
		return this.counted;
	}

	/** How many keys this session has counted, without vanished ones. */
	long keys() {
		return this.keys;
	}

	/** Whether memory was missing for a page, or for its largest keys. */
	boolean lacksMemory() {
		return this.missingBytes > 0 || this.oversized != null;
	}

	/**
	 * Returns an action that reserves the missing memory. The caller runs it after it has
	 * returned the connection: the action may wait for memory, and the jobs that hold the
	 * memory may wait for a connection.
	 */
	Runnable reserveMissing() {
		KeyPage page = this.oversized;
		if (this.missingBytes > 0) {
			return () -> {
				this.pages.releaseMemory();
				this.totals.largest().reserve(this.missingBytes);
			};
		}
		this.oversized = null;
		return (page != null) ? () -> this.pages.reserveFor(page) : LookupExchange::doNothing;
	}

	/**
	 * A temporary error of Redis, after which the scan continues later; {@code null} for
	 * none.
	 */
	@Nullable String temporaryError() {
		return this.temporaryError;
	}

	/** A page that is not counted yet. */
	private static final class PendingPage {

		private final KeyPage keys;

		private final long requestedNanos;

		/** How many of its keys were sent to Redis in lookups. */
		private int sent;

		/** How many lookups of the page are in flight. */
		private int inFlight;

		PendingPage(KeyPage keys, long requestedNanos) {
			this.keys = keys;
			this.requestedNanos = requestedNanos;
		}

		boolean isComplete() {
			return this.sent == this.keys.count() && this.inFlight == 0;
		}

	}

}
