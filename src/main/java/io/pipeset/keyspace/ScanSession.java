package io.pipeset.keyspace;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.function.BooleanSupplier;

import io.pipeset.engine.scan.ServerWalk;
import io.pipeset.engine.slab.lookup.KeyLookup;
import io.pipeset.engine.slab.lookup.KeyPage;
import io.pipeset.engine.slab.lookup.Question;
import io.pipeset.engine.slab.lookup.Scan;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * The part of a walk that one connection carries. The SCAN for the next page goes ahead
 * of the commands that look at the keys of the last one, so that Redis always has
 * something to do. A leg ends with the walk, with its connection, or when others are to
 * go on.
 */
final class ScanSession implements AutoCloseable {

	/** The lookups that may be on their way. */
	private static final int WINDOW = 8;

	/** The keys of one lookup, so that it has about 1,000 commands. */
	private static final int KEYS_OF_LOOKUP = 333;

	/** The bytes of keys after which a lookup ends. */
	private static final int BYTES_OF_LOOKUP = 256 << 10;

	/** The pages that are being looked at, and so wait to be counted. */
	private static final int PAGES = 3;

	private final AnalysisRun run;

	private final ServerWalk walk;

	private final Totals totals;

	private final PagePool pages;

	private final LookupExchange conversation;

	private final BooleanSupplier yields;

	private final Deque<Pending> pending = new ArrayDeque<>();

	/**
	 * The cursor of the next page; {@code null} while it is not known, or none is left.
	 */
	private @Nullable String next;

	/** The page that takes the next keys. */
	private @Nullable Pending scanning;

	/** A page for which there was no memory. */
	private @Nullable KeyPage tooLarge;

	/**
	 * The memory that was not free for those keys of a page that are among the largest.
	 */
	private long wanted;

	private @Nullable String passingError;

	private boolean counted;

	/** The keys of these pages that were there. */
	private long keys;

	/**
	 * A leg that has sent nothing yet.
	 * @param yields whether others are to go on as soon as a page is counted
	 */
	ScanSession(AnalysisRun run, ServerWalk walk, PagePool pages, LookupExchange conversation, BooleanSupplier yields) {
		this.run = run;
		this.walk = walk;
		this.totals = run.totals();
		this.pages = pages;
		this.conversation = conversation;
		this.yields = yields;
		this.next = walk.place().cursor();
	}

	/** Walks on, until nothing is on its way. */
	void run() {
		do {
			if (!isOver()) {
				sendAll();
			}
		}
		while (this.conversation.await());
	}

	/** Whether nothing more is sent. */
	private boolean isOver() {
		return this.conversation.loss() != null || this.passingError != null || this.wanted > 0
				|| this.run.isPassOver();
	}

	private void sendAll() {
		while (this.conversation.onTheirWay() < WINDOW) {
			KeyLookup lookup = new KeyLookup(this.totals.types());
			boolean scans = scanNext(lookup);
			Pending looked = lookNext(lookup);
			if (!scans && looked == null) {
				return;
			}
			this.conversation.send(lookup, () -> answered(lookup, looked));
		}
	}

	private boolean scanNext(KeyLookup lookup) {
		if (this.next == null || this.pending.size() >= PAGES || this.tooLarge != null || isOthersTurn()) {
			return false;
		}
		Pending page = new Pending(this.pages.take(), System.nanoTime());
		lookup.scan(this.run.scan(), this.next, page.keys, () -> this.conversation.post(() -> scanned(page)));
		this.next = null;
		this.scanning = page;
		return true;
	}

	/** Whether to go on another time: it is early, or others are to go on. */
	private boolean isOthersTurn() {
		return this.run.pace().early() > 0 || (this.counted && this.yields.getAsBoolean());
	}

	private @Nullable Pending lookNext(KeyLookup lookup) {
		for (Pending page : this.pending) {
			int from = page.sent;
			if (from < page.keys.count()) {
				page.sent = lookupEnd(page.keys, from);
				page.open++;
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
		int most = Math.min(page.count(), from + KEYS_OF_LOOKUP);
		int to = from + 1;
		while (to < most && page.end(to) - page.start(from) <= BYTES_OF_LOOKUP) {
			to++;
		}
		return to;
	}

	private void scanned(Pending page) {
		KeyPage keys = page.keys;
		this.scanning = null;
		if (keys.isTooLarge()) {
			this.tooLarge = keys;
			return;
		}
		this.next = keys.cursor().equals(Scan.START) ? null : keys.cursor();
		if (this.walk.isInCluster()) {
			keys.retain(this.walk::counts);
		}
		this.run.pace().scanned(keys.count());
		this.pending.add(page);
		countWhole();
	}

	private void answered(KeyLookup lookup, @Nullable Pending looked) {
		String leftOut = null;
		for (Map.Entry<Question, String> refused : lookup.errors().entrySet()) {
			String error = refused.getValue();
			Question question = refused.getKey();
			if (this.run.passes(error)) {
				this.passingError = error;
			}
			else if (question == Question.MEMORY_USAGE) {
				leftOut = refused(question, error);
			}
			else {
				this.run.task().stop().because(Cause.REDIS_REFUSES, refusal(question, error));
			}
		}
		if (this.passingError == null && !this.run.isPassOver()) {
			if (leftOut != null) {
				this.totals.leaveBytesOut(leftOut);
			}
			if (looked != null) {
				looked.open--;
				countWhole();
			}
		}
	}

	/** Each master of a cluster has users of its own. */
	private String refused(Question question, String error) {
		return "Redis" + ((this.walk.isInCluster()) ? " at " + this.walk.node().name() : "") + " refused "
				+ question.command() + ": " + error;
	}

	private String refusal(Question question, String error) {
		return refused(question, error)
				+ ((error.startsWith("NOPERM")) ? ". Permit it by ACL SETUSER <user> " + question.permission()
						+ ", and where the user may read some keys only, ask for those with 'match'" : "");
	}

	/** Counts the pages whose keys are all looked at, in their order. */
	private void countWhole() {
		Pending first = this.pending.peek();
		while (first != null && first.isWhole() && this.wanted == 0 && !this.run.isPassOver()) {
			int keys = this.totals.add(first.keys);
			if (keys < 0) {
				this.wanted = this.totals.wanted(first.keys);
				return;
			}
			String life = this.conversation.pipeline().runId();
			this.walk.taken(this.walk.place().next(first.keys.cursor(), life, first.askedNanos));
			this.pages.give(first.keys);
			this.pending.remove();
			this.counted = true;
			this.keys += keys;
			first = this.pending.peek();
		}
	}

	/** Gives the pages back that are not counted. */
	@Override
	public void close() {
		if (this.conversation.onTheirWay() == 0) {
			this.pending.forEach((page) -> this.pages.give(page.keys));
			if (this.scanning != null) {
				this.pages.give(this.scanning.keys);
			}
		}
		if (this.tooLarge != null) {
			this.pages.give(this.tooLarge);
		}
	}

	/** Whether at least one page was counted. */
	boolean hasCounted() {
		return this.counted;
	}

	/** The keys of the pages that were counted. */
	long keys() {
		return this.keys;
	}

	/** Whether there was no memory for a page, or for its largest keys. */
	boolean isInWant() {
		return this.wanted > 0 || this.tooLarge != null;
	}

	/**
	 * Takes the memory that the leg was in want of, for which the caller's thread may
	 * wait. It waits without a connection, as the jobs that hold the memory may wait for
	 * one.
	 * @return is run once the connection is given back
	 */
	Runnable want() {
		KeyPage page = this.tooLarge;
		if (this.wanted > 0) {
			return () -> {
				this.pages.giveRoom();
				this.totals.largest().makeRoom(this.wanted);
			};
		}
		this.tooLarge = null;
		return (page != null) ? () -> this.pages.makeRoomFor(page) : LookupExchange::doNothing;
	}

	/** The error of a Redis that may well answer in a moment, or {@code null}. */
	@Nullable String passingError() {
		return this.passingError;
	}

	/** A page whose keys are not all looked at. */
	private static final class Pending {

		private final KeyPage keys;

		private final long askedNanos;

		/** The keys that are asked about. */
		private int sent;

		/** The lookups for the page that are on their way. */
		private int open;

		Pending(KeyPage keys, long askedNanos) {
			this.keys = keys;
			this.askedNanos = askedNanos;
		}

		boolean isWhole() {
			return this.sent == this.keys.count() && this.open == 0;
		}

	}

}
