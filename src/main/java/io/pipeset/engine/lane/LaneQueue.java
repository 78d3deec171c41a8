package io.pipeset.engine.lane;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.pipeset.engine.slab.Slab;
import org.jspecify.annotations.Nullable;

/**
 * The only way into a lane. The reading thread adds filled slabs, and lends the slab that
 * it is still filling before it waits for input. The event loop returns slabs that are
 * done. The lane takes all three. The queue also knows whether a thread runs the lane.
 * <p>
 * The lane gets slabs in the order in which the reading thread filled them, because:
 * <ol>
 * <li>The reading thread fills one slab at a time, and adds it before it begins the next
 * one. So the filled slabs in this queue are in order, and follow those that the lane has
 * taken.</li>
 * <li>A lent slab is the one being filled, so it follows every filled slab. The lane gets
 * it only while the queue has no filled slab, in one step under the lock.</li>
 * <li>After it has lent a slab, the reading thread adds no record and no slab. It
 * continues when it has reclaimed the slab, or learned that the lane has it.</li>
 * </ol>
 */
final class LaneQueue {

	/** How long a lane waits for more input before it sends a partly filled slab. */
	static final long INPUT_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final Deque<Slab> filled = new ArrayDeque<>();

	private final Deque<Slab> done = new ArrayDeque<>();

	private @Nullable Slab lent;

	private long lentNanos;

	private boolean running;

	/**
	 * Adds a filled slab, on the reading thread.
	 * @return {@code true} if no thread runs the lane, and the caller has to start one
	 */
	boolean addFilled(Slab slab) {
		this.lock.lock();
		try {
			this.filled.add(slab);
			return markRunning();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Lends the slab being filled, on the reading thread.
	 * @return {@code true} if no thread runs the lane, and the caller has to start one
	 */
	boolean lend(Slab slab) {
		this.lock.lock();
		try {
			this.lent = slab;
			this.lentNanos = System.nanoTime();
			return markRunning();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Takes back the slab that was lent, on the reading thread.
	 * @return {@code false} if the lane has taken it
	 */
	boolean reclaim() {
		this.lock.lock();
		try {
			boolean reclaimed = this.lent != null;
			this.lent = null;
			return reclaimed;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Returns a slab that is done, on the event loop. */
	void addDone(Slab slab) {
		this.lock.lock();
		try {
			this.done.add(slab);
			this.changed.signal();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Takes the next slab that is done or filled, on the lane's thread.
	 * @param borrows whether a lent slab ends the wait after a
	 * {@linkplain #INPUT_PAUSE_NANOS pause} in the input, even if that is longer than
	 * {@code nanos}
	 * @return the slab, or {@code null} if none came in time
	 */
	@Nullable Slab poll(long nanos, boolean borrows) throws InterruptedException {
		this.lock.lock();
		try {
			long deadline = System.nanoTime() + nanos;
			while (this.done.isEmpty() && this.filled.isEmpty()) {
				long endNanos = (borrows && this.lent != null) ? this.lentNanos + INPUT_PAUSE_NANOS : deadline;
				long leftNanos = endNanos - System.nanoTime();
				if (leftNanos <= 0) {
					return null;
				}
				this.changed.awaitNanos(leftNanos);
			}
			return (this.done.isEmpty()) ? this.filled.remove() : this.done.remove();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Takes the lent slab, on the lane's thread.
	 * @return the slab, or {@code null} if none is lent, or a filled one comes first
	 */
	@Nullable Slab borrow() {
		this.lock.lock();
		try {
			if (!this.filled.isEmpty()) {
				return null;
			}
			Slab slab = this.lent;
			this.lent = null;
			return slab;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Marks the lane as idle, unless the queue has a slab.
	 * @return {@code false} if the lane's thread has to continue
	 */
	boolean endIfEmpty() {
		this.lock.lock();
		try {
			this.running = !this.filled.isEmpty() || !this.done.isEmpty() || this.lent != null;
			return !this.running;
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean markRunning() {
		this.changed.signal();
		boolean wasIdle = !this.running;
		this.running = true;
		return wasIdle;
	}

}
