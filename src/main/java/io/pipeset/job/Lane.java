package io.pipeset.job;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.pipeset.pipeline.Loss;
import io.pipeset.pipeline.NoConnectionException;
import io.pipeset.pipeline.Slab;
import org.jspecify.annotations.Nullable;

/**
 * One series of batches, each on a connection of its own for as long as it lasts. A lane
 * has a mailbox, to which the thread that reads brings filled slabs and the event loop
 * brings back those that are done; at most one thread runs a lane at a time, and none
 * while it has nothing to do.
 */
final class Lane implements Runnable {

	/** How long input that does not come is waited for before what there is goes out. */
	static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private static final Slab NUDGE = new Slab();

	private final Lanes lanes;

	private final JobContext context;

	private final Window window;

	private final Feeder feeder;

	private final LinkedBlockingQueue<Slab> mailbox = new LinkedBlockingQueue<>();

	private final AtomicBoolean claimed = new AtomicBoolean();

	private final Deque<Slab> toSend = new ArrayDeque<>();

	private final Recovery recovery;

	private boolean nudged;

	private boolean interrupted;

	Lane(Lanes lanes, JobContext context) {
		this.lanes = lanes;
		this.context = context;
		this.window = new Window(context.pipeline(), context.capacity());
		this.feeder = new Feeder(this, this.window, context);
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

	/** Brings a slab, filled or done. */
	void bring(Slab slab) {
		this.mailbox.add(slab);
	}

	/** Says that the feeder has lent a slab. */
	void nudge() {
		this.mailbox.add(NUDGE);
	}

	/**
	 * Claims the lane for a thread that will run it.
	 * @return {@code false} where another has it, which will see what was brought
	 */
	boolean claim() {
		boolean free = this.claimed.compareAndSet(false, true);
		if (free) {
			this.lanes.begins();
		}
		return free;
	}

	@Override
	public void run() {
		try {
			if (!work()) {
				return;
			}
		}
		catch (RuntimeException | Error ex) {
			this.lanes.crashed(ex);
		}
		if (this.interrupted) {
			Thread.currentThread().interrupt();
		}
		this.lanes.ends();
	}

	/**
	 * Runs batches until there is nothing to do; {@code false} if it has to wait its
	 * turn.
	 */
	private boolean work() {
		do {
			while (collect()) {
				if (this.context.stop().isSet()) {
					this.toSend.forEach((slab) -> settle(slab, null));
					this.toSend.clear();
				}
				else if (this.lanes.enter(this)) {
					runBatch();
				}
				else {
					return false;
				}
			}
			this.claimed.set(false);
		}
		while (!this.mailbox.isEmpty() && this.claimed.compareAndSet(false, true));
		return true;
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
			this.context.pipelines().run(settings.flush(), settings.timeout(), (pipeline) -> {
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
			this.lanes.leave();
		}
	}

	/** Settles what a batch left, and keeps for the next one what is marked for it. */
	private void settleLeft(Batch batch) {
		Deque<Slab> again = new ArrayDeque<>();
		for (Slab slab : batch.left()) {
			if (settle(slab, batch.loss())) {
				again.addFirst(slab);
			}
		}
		again.forEach(this.toSend::addFirst);
	}

	/** Looks for something to send; a pause in the input is waited out first. */
	private boolean collect() {
		while (this.toSend.isEmpty()) {
			if (!receive((this.nudged) ? PAUSE_NANOS : 0, (slab) -> settle(slab, null))) {
				return borrow();
			}
		}
		return true;
	}

	/**
	 * Waits for one message.
	 * @param nanos how long, if positive
	 * @param done takes a slab that came back
	 * @return {@code false} where none came in time
	 */
	boolean receive(long nanos, Consumer<Slab> done) {
		Slab slab = poll(nanos);
		if (slab == null) {
			return false;
		}
		if (slab == NUDGE) {
			this.nudged = true;
		}
		else if (slab.isDone()) {
			done.accept(slab);
		}
		else {
			this.nudged = false;
			this.toSend.add(slab);
		}
		return true;
	}

	/** Takes what the feeder has lent while it waits for input. */
	boolean borrow() {
		this.nudged = false;
		Slab lent = this.feeder.borrow();
		if (lent != null) {
			this.toSend.add(lent);
		}
		return lent != null;
	}

	/** Whether the feeder waits for input, so that more may not come soon. */
	boolean isNudged() {
		return this.nudged;
	}

	/** The slabs to send, in their order. */
	Deque<Slab> toSend() {
		return this.toSend;
	}

	/**
	 * Enters a slab into the account, and gives it back to be filled anew.
	 * @param slab what came back
	 * @param loss why it was not answered, if the connection was lost
	 * @return {@code true} where some of it is to be sent again, and it is not given back
	 */
	boolean settle(Slab slab, @Nullable Loss loss) {
		slab.settle(this.context.account(), loss);
		this.window.comeBack(slab);
		boolean cameBack = slab.isDone() || !slab.isWritten();
		boolean again = slab.retry();
		if (again) {
			this.window.leave(slab);
		}
		else if (cameBack) {
			this.window.free(slab);
		}
		else {
			// The driver may still write replies into it; the job is at its end.
			this.window.open();
		}
		this.context.checkErrors();
		return again;
	}

	private @Nullable Slab poll(long nanos) {
		try {
			return (nanos > 0) ? this.mailbox.poll(nanos, TimeUnit.NANOSECONDS) : this.mailbox.poll();
		}
		catch (InterruptedException ex) {
			// What is on its way has to be waited for all the same.
			this.interrupted = true;
			return this.mailbox.poll();
		}
	}

}
