package io.pipeset.engine.lane;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.Consumer;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.slab.Loss;
import io.pipeset.engine.slab.Slab;
import org.jspecify.annotations.Nullable;

/**
 * The slabs that a lane has taken out of its queue, until they are settled. Only the
 * thread that runs the lane uses this, except {@link #addDone}, which the event loop
 * calls.
 */
final class LaneSlabs {

	private final LaneContext context;

	private final LaneQueue queue;

	private final Window window;

	private final Destinations destinations;

	private final Deque<Slab> toSend = new ArrayDeque<>();

	/** Settled slabs that the driver has not returned. */
	private final Set<Slab> abandoned = Collections.newSetFromMap(new IdentityHashMap<>(0));

	/** The index of the last record sent. Each later record has a higher one. */
	private long sentUpTo = -1;

	private boolean interrupted;

	LaneSlabs(LaneContext context, LaneQueue queue, Window window, Destinations destinations) {
		this.context = context;
		this.queue = queue;
		this.window = window;
		this.destinations = destinations;
	}

	/** Whether the thread was interrupted while it waited here. */
	boolean isInterrupted() {
		return this.interrupted;
	}

	/** Finds a slab to send. A lent slab counts only after a pause in the input. */
	boolean fetchNext() {
		while (this.toSend.isEmpty()) {
			if (!receive(0, true, (slab) -> settle(slab, null)) && !borrow() && this.queue.endIfEmpty()) {
				return false;
			}
		}
		return true;
	}

	/** Selects the node of the next slab, which must exist. */
	RedisNode selectDestination() throws NoConnectionException {
		return this.destinations.select(this.toSend.element());
	}

	/** Settles the slabs to send because the job is stopped. */
	void settleUnsent() {
		this.toSend.forEach((slab) -> settle(slab, null));
		this.toSend.clear();
	}

	/**
	 * Settles the unsettled slabs of a batch. Keeps slabs with commands to resend for the
	 * next batch.
	 */
	void settleBatch(BatchResult batch) {
		Deque<Slab> toResend = new ArrayDeque<>();
		for (Slab slab : batch.unsettled()) {
			if (this.abandoned.contains(slab)) {
				settleAbandoned(slab, batch.loss());
			}
			else if (settle(slab, batch.loss())) {
				toResend.addFirst(slab);
			}
		}
		if (!toResend.isEmpty()) {
			this.sentUpTo = toResend.getLast().firstIndex() - 1;
		}
		toResend.forEach(this.toSend::addFirst);
	}

	/**
	 * Settles the slabs that remain after a crash, and releases all memory of the lane.
	 */
	void close() {
		try {
			boolean more = true;
			while (more) {
				more = receive(0, false, this.toSend::add) || borrow();
			}
			this.toSend.forEach((slab) -> slab.settle(this.context.account(), null));
			this.toSend.clear();
		}
		finally {
			this.window.close();
		}
	}

	/**
	 * Waits for one slab that is to be sent, or is done.
	 * @param nanos how long to wait; 0 to poll once
	 * @param borrows whether a lent slab ends the wait
	 * @param done receives a slab that is done
	 * @return {@code false} if no slab came in time
	 */
	boolean receive(long nanos, boolean borrows, Consumer<Slab> done) {
		Slab slab = poll(nanos, borrows);
		if (slab == null) {
			return false;
		}
		if (!slab.isDone()) {
			this.toSend.add(slab);
		}
		else if (!this.abandoned.remove(slab)) {
			done.accept(slab);
		}
		return true;
	}

	/**
	 * Takes the slab that the reading thread has lent while it waits for input. It is
	 * then the next to send.
	 * @return {@code false} if no slab is lent, or a filled one comes first
	 */
	boolean borrow() {
		Slab lent = this.queue.borrow();
		if (lent != null) {
			this.window.add(lent);
			this.toSend.add(lent);
		}
		return lent != null;
	}

	/** The next slab to send, which is not removed; {@code null} if there is none. */
	@Nullable Slab peek() {
		return this.toSend.peek();
	}

	/**
	 * Removes the next slab to send.
	 * @return a slab whose records follow all records sent before
	 */
	Slab takeNext() {
		Slab slab = this.toSend.element();
		if (slab.firstIndex() <= this.sentUpTo) {
			throw new IllegalStateException("Record " + slab.firstIndex() + " would be sent after record "
					+ this.sentUpTo + " of the same lane");
		}
		this.sentUpTo = slab.lastIndex();
		this.toSend.remove();
		this.destinations.prepare(slab);
		return slab;
	}

	/** Returns a slab that is done, on the event loop. */
	void addDone(Slab slab) {
		this.queue.addDone(slab);
	}

	/**
	 * Enters a slab's outcomes into the account. Recycles the slab unless commands are to
	 * be resent.
	 * @param slab a slab that is done, or was not sent
	 * @param loss why it has no answer; {@code null} if the connection was not lost
	 * @return {@code true} if some of its commands are to be resent
	 */
	private boolean settle(Slab slab, @Nullable Loss loss) {
		slab.settle(this.context.account(), loss);
		this.window.remove(slab);
		boolean toResend = slab.retry();
		if (toResend) {
			this.window.add(slab);
		}
		else {
			this.window.recycle(slab);
		}
		this.context.errorCheck().run();
		return toResend;
	}

	/** Whether there is a next slab, and it goes to another node. */
	boolean isNextElsewhere() {
		Slab next = this.toSend.peek();
		return next != null && this.destinations.isElsewhere(next);
	}

	/** Settles a slab that has its final answer. */
	void settleAnswered(Slab slab) {
		settle(slab, null);
	}

	/**
	 * Marks slabs that the driver has not returned. They are ignored if they come back
	 * later.
	 */
	void markAbandoned(Collection<Slab> slabs) {
		this.abandoned.addAll(slabs);
	}

	/**
	 * Settles a slab that the driver has not returned. The slab is not reused, because
	 * the driver may still write replies into it.
	 */
	private void settleAbandoned(Slab slab, @Nullable Loss loss) {
		slab.settle(this.context.account(), loss);
		this.window.remove(slab);
		this.window.removeLimit();
		this.context.memory().slabFreed();
	}

	private @Nullable Slab poll(long nanos, boolean borrows) {
		try {
			return this.queue.poll(nanos, borrows);
		}
		catch (InterruptedException ex) {
			// Slabs in flight have to be awaited nevertheless.
			this.interrupted = true;
			return poll(nanos, borrows);
		}
	}

}
