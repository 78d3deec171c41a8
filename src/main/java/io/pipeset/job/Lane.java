package io.pipeset.job;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.pipeset.pipeline.NoConnectionException;
import io.pipeset.slab.Loss;
import io.pipeset.slab.Slab;
import org.jspecify.annotations.Nullable;

/**
 * One series of batches, each on a connection of its own for as long as it lasts. Slabs
 * come in by the lane's {@link LaneQueue}; at most one thread runs a lane at a time, and
 * none while it has nothing to do.
 */
final class Lane implements Runnable {

	private final Lanes lanes;

	private final JobContext context;

	private final Window window;

	private final LaneQueue queue = new LaneQueue();

	private final Feeder feeder;

	private final Deque<Slab> toSend = new ArrayDeque<>();

	private final Recovery recovery;

	/** Slabs that the driver has not given back, though they are settled. */
	private final Set<Slab> abandoned = Collections.newSetFromMap(new IdentityHashMap<>(0));

	/** The index of the last record sent; the next one's is higher. */
	private long sentUpTo = -1;

	private boolean interrupted;

	Lane(Lanes lanes, JobContext context) {
		this.lanes = lanes;
		this.context = context;
		this.window = new Window(context.pipeline(), context.capacity(), context.memory());
		this.feeder = new Feeder(this, this.queue, this.window, context);
		this.recovery = new Recovery(context);
	}

	Feeder feeder() {
		return this.feeder;
	}

	Recovery recovery() {
		return this.recovery;
	}

	/** Lets the reading thread go on, whatever is unanswered. */
	void openWindow() {
		this.window.open();
	}

	/** Has a thread run the lane, once the queue says that none does. */
	void start() {
		this.lanes.start(this);
	}

	@Override
	public void run() {
		boolean ends = true;
		try {
			ends = work();
		}
		catch (RuntimeException | Error ex) {
			this.lanes.crashed(ex);
		}
		finally {
			if (ends) {
				this.lanes.ends();
			}
			if (ends && this.interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Runs batches until there is nothing to do; {@code false} if it has to wait its
	 * turn.
	 */
	private boolean work() {
		while (collect()) {
			if (this.context.stop().isSet()) {
				this.toSend.forEach((slab) -> settle(slab, null));
				this.toSend.clear();
			}
			else if (this.lanes.turns().enter(this)) {
				runBatch();
			}
			else {
				return false;
			}
		}
		return true;
	}

	/**
	 * Ends the lane after the job's last record, when no thread runs it: settles what a
	 * crash has left behind, and gives back all room that the lane still takes.
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

	private void runBatch() {
		try {
			Batch batch = tryBatch();
			if (!batch.left().isEmpty()) {
				this.recovery.after(batch);
				settleLeft(batch);
			}
		}
		catch (NoConnectionException ex) {
			this.recovery.unreachable(ex);
		}
	}

	/** Runs a batch, after which the lane holds no connection. */
	private Batch tryBatch() throws NoConnectionException {
		JobSettings settings = this.context.settings();
		AtomicReference<@Nullable Batch> begun = new AtomicReference<>();
		long asked = System.nanoTime();
		try {
			Runnable release = this.context.capacity()::release;
			this.context.pipelines()
				.run(settings.flush(), settings.timeout(), this.context.stop(), release, (pipeline) -> {
					this.context.clock().waited(System.nanoTime() - asked);
					Batch batch = new Batch(this, this.lanes, this.context, pipeline);
					begun.set(batch);
					batch.run();
				});
			return Objects.requireNonNull(begun.get());
		}
		catch (NoConnectionException ex) {
			this.context.clock().waited(System.nanoTime() - asked);
			throw ex;
		}
		finally {
			this.lanes.turns().leave();
		}
	}

	/** Settles what a batch left, and keeps for the next one what is marked for it. */
	private void settleLeft(Batch batch) {
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

	/** Looks for something to send; a pause in the input is waited out first. */
	private boolean collect() {
		while (this.toSend.isEmpty()) {
			if (!receive(0, true, (slab) -> settle(slab, null)) && !borrow() && this.queue.leave()) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Takes one slab from the queue.
	 * @param nanos how long to wait for it, if positive
	 * @param borrows whether a slab that is lent ends the wait
	 * @param done takes a slab that came back
	 * @return {@code false} where none came in time
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

	/** Takes what the feeder has lent while it waits for input. */
	boolean borrow() {
		Slab lent = this.queue.borrow();
		if (lent != null) {
			this.window.leave(lent);
			this.toSend.add(lent);
		}
		return lent != null;
	}

	/** The slabs to send, in their order. */
	Deque<Slab> toSend() {
		return this.toSend;
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
		return slab;
	}

	/** Takes a slab back from its connection, on the event loop. */
	void comeBack(Slab slab) {
		this.queue.comeBack(slab);
	}

	/**
	 * Enters a slab into the account, and gives it back to be filled anew.
	 * @param slab what came back, or was not sent
	 * @param loss why it was not answered, if the connection was lost
	 * @return {@code true} where some of it is to be sent again, and it is not given back
	 */
	boolean settle(Slab slab, @Nullable Loss loss) {
		slab.settle(this.context.account(), loss);
		this.window.comeBack(slab);
		boolean again = slab.retry();
		if (again) {
			this.window.leave(slab);
		}
		else {
			this.window.free(slab);
		}
		this.context.checkErrors();
		return again;
	}

	/** Does not wait any longer for slabs; whenever they come back, they are ignored. */
	void doesNotGetBack(Collection<Slab> slabs) {
		this.abandoned.addAll(slabs);
	}

	/**
	 * Enters a slab into the account that the driver does not give back. It is not
	 * touched any more, as the driver may still write replies into it.
	 * @param slab what was sent
	 * @param loss why it was not answered
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
			// What is on its way has to be waited for all the same.
			this.interrupted = true;
			return poll(nanos, borrows);
		}
	}

}
