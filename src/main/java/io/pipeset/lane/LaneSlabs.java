package io.pipeset.lane;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.slab.Loss;
import io.pipeset.slab.Slab;
import org.jspecify.annotations.Nullable;

/**
 * The slabs that a lane has taken out of its queue, until they are settled. Only the
 * thread that runs the lane touches them, but for slabs that the event loop brings back.
 */
final class LaneSlabs implements SlabSource {

	private final LaneContext context;

	private final LaneQueue queue;

	private final Window window;

	private final Recovery recovery;

	private final Destinations destinations;

	private final BooleanSupplier fed;

	private final Deque<Slab> toSend = new ArrayDeque<>();

	/** Slabs that the driver has not given back, though they are settled. */
	private final Set<Slab> abandoned = Collections.newSetFromMap(new IdentityHashMap<>(0));

	/** The index of the last record sent; the next one's is higher. */
	private long sentUpTo = -1;

	private boolean interrupted;

	LaneSlabs(LaneContext context, LaneQueue queue, Window window, Recovery recovery, Destinations destinations,
			BooleanSupplier fed) {
		this.context = context;
		this.queue = queue;
		this.window = window;
		this.recovery = recovery;
		this.destinations = destinations;
		this.fed = fed;
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

	@Override
	public boolean receive(long nanos, boolean borrows, Consumer<Slab> done) {
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

	@Override
	public boolean borrow() {
		Slab lent = this.queue.borrow();
		if (lent != null) {
			this.window.leave(lent);
			this.toSend.add(lent);
		}
		return lent != null;
	}

	@Override
	public @Nullable Slab peek() {
		return this.toSend.peek();
	}

	@Override
	public Slab next() {
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

	@Override
	public void comeBack(Slab slab) {
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

	@Override
	public boolean isFed() {
		return this.fed.getAsBoolean();
	}

	@Override
	public boolean leadsElsewhere() {
		Slab next = this.toSend.peek();
		return next != null && this.destinations.isElsewhere(next);
	}

	@Override
	public boolean followsRedirects() {
		return this.destinations.areSeveral();
	}

	@Override
	public boolean mayAskAgain() {
		return this.recovery.mayGoOn();
	}

	@Override
	public void answered(Slab slab) {
		settle(slab, null);
		this.recovery.progress();
	}

	@Override
	public void doesNotGetBack(Collection<Slab> slabs) {
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
