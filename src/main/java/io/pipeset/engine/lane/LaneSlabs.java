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
 * thread that runs the lane touches them, but for slabs that the event loop brings back.
 */
final class LaneSlabs {

	private final LaneContext context;

	private final LaneQueue queue;

	private final Window window;

	private final Destinations destinations;

	private final Deque<Slab> toSend = new ArrayDeque<>();

	/** Slabs that the driver has not given back, though they are settled. */
	private final Set<Slab> abandoned = Collections.newSetFromMap(new IdentityHashMap<>(0));

	/** The index of the last record sent; the next one's is higher. */
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

	/**
	 * Looks for a slab to send. A slab that is lent counts after a pause in the input.
	 */
	boolean collect() {
		while (this.toSend.isEmpty()) {
			if (!receive(0, true, (slab) -> settle(slab, null)) && !borrow() && this.queue.leave()) {
				return false;
			}
		}
		return true;
	}

	/** The node that the next slab, which there is, goes to. */
	RedisNode destination() throws NoConnectionException {
		return this.destinations.begin(this.toSend.element());
	}

	/** Settles the slabs that were to be sent, as the job is stopped. */
	void settleUnsent() {
		this.toSend.forEach((slab) -> settle(slab, null));
		this.toSend.clear();
	}

	/**
	 * Settles the slabs that a batch left, and keeps for the next batch those with
	 * commands that are marked to be sent again.
	 */
	void settleLeft(BatchResult batch) {
		Deque<Slab> again = new ArrayDeque<>();
		for (Slab slab : batch.left()) {
			if (this.abandoned.contains(slab)) {
				abandon(slab, batch.loss());
			}
			else if (settle(slab, batch.loss())) {
				again.addFirst(slab);
			}
		}
		if (!again.isEmpty()) {
			this.sentUpTo = again.getLast().firstIndex() - 1;
		}
		again.forEach(this.toSend::addFirst);
	}

	/**
	 * Settles the slabs that a crash has left behind, and gives back all room that the
	 * lane still takes.
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
	 * Waits for one slab, which is then to be sent or is done.
	 * @param nanos how long to wait for it, if positive
	 * @param borrows whether a slab that is lent ends the wait
	 * @param done takes a slab that came back
	 * @return {@code false} if none came in time
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
	 * Takes the slab that the reading thread has lent while it waits for input, which is
	 * then to be sent.
	 * @return {@code false} if none is lent, or a filled one comes first
	 */
	boolean borrow() {
		Slab lent = this.queue.borrow();
		if (lent != null) {
			this.window.leave(lent);
			this.toSend.add(lent);
		}
		return lent != null;
	}

	/** The next slab to send, which stays here; {@code null} if none is known. */
	@Nullable Slab peek() {
		return this.toSend.peek();
	}

	/**
	 * Takes the next slab to send.
	 * @return a slab whose records follow all that were sent
	 */
	Slab next() {
		Slab slab = this.toSend.element();
		if (slab.firstIndex() <= this.sentUpTo) {
			throw new IllegalStateException("Record " + slab.firstIndex() + " would be sent behind record "
					+ this.sentUpTo + " of the same lane");
		}
		this.sentUpTo = slab.lastIndex();
		this.toSend.remove();
		this.destinations.leaves(slab);
		return slab;
	}

	/** Brings a slab back from its connection, on the event loop. */
	void comeBack(Slab slab) {
		this.queue.comeBack(slab);
	}

	/**
	 * Enters a slab into the account, and gives it back to be filled anew.
	 * @param slab a slab that came back, or was not sent
	 * @param loss why it was not answered, if the connection was lost
	 * @return {@code true} if commands of it are to be sent again, and it is not given
	 * back
	 */
	private boolean settle(Slab slab, @Nullable Loss loss) {
		slab.settle(this.context.account(), loss);
		this.window.comeBack(slab);
		boolean again = slab.retry();
		if (again) {
			this.window.leave(slab);
		}
		else {
			this.window.free(slab);
		}
		this.context.errorCheck().run();
		return again;
	}

	/** Whether the next slab, if one is known, has to go to another node. */
	boolean leadsElsewhere() {
		Slab next = this.toSend.peek();
		return next != null && this.destinations.isElsewhere(next);
	}

	/** A slab has its final answer. */
	void answered(Slab slab) {
		settle(slab, null);
	}

	/** The driver keeps slabs; whenever they come back, they are ignored. */
	void doesNotGetBack(Collection<Slab> slabs) {
		this.abandoned.addAll(slabs);
	}

	/**
	 * Enters a slab into the account that the driver does not give back. It is not
	 * touched any more, as the driver may still write replies into it.
	 */
	private void abandon(Slab slab, @Nullable Loss loss) {
		slab.settle(this.context.account(), loss);
		this.window.comeBack(slab);
		this.window.open();
		this.context.memory().slabFreed();
	}

	private @Nullable Slab poll(long nanos, boolean borrows) {
		try {
			return this.queue.poll(nanos, borrows);
		}
		catch (InterruptedException ex) {
			// Slabs on their way have to be waited for all the same.
			this.interrupted = true;
			return poll(nanos, borrows);
		}
	}

}
