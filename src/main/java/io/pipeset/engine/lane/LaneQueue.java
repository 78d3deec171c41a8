package io.pipeset.engine.lane;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.pipeset.engine.slab.Slab;
import org.jspecify.annotations.Nullable;

/**
 * The only way into a lane. The reading thread brings slabs that are filled, and lends
 * the one that it is still filling before it waits for input. The event loop brings back
 * slabs that are done. The lane takes all three, and this queue says whether a thread
 * runs the lane.
 * <p>
 * The lane gets slabs in the order in which the reading thread filled them, because:
 * <ol>
 * <li>The reading thread fills one slab at a time, and brings it before it begins the
 * next. So the filled slabs in this queue are in order, and behind those that the lane
 * has taken.</li>
 * <li>A slab that is lent is the one being filled. It is therefore behind every filled
 * slab. The lane is given it only while no filled slab is here, in the same step, under
 * the lock.</li>
 * <li>The reading thread adds nothing to a slab that it has lent, and brings nothing,
 * before it has reclaimed the slab or learned that the lane has it.</li>
 * </ol>
 */
final class LaneQueue {

	/** How long a lane waits for more input before it sends a partly filled slab. */
	static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final Deque<Slab> filled = new ArrayDeque<>();

	private final Deque<Slab> done = new ArrayDeque<>();

	private @Nullable Slab lent;

	private long lentSince;

	private boolean running;

	/**
	 * Brings a filled slab, on the reading thread.
	 * @return {@code true} if no thread runs the lane, and the caller has to start one
	 */
	boolean bring(Slab slab) {
		this.lock.lock();
		try {
			this.filled.add(slab);
			return begin();
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
			this.lentSince = System.nanoTime();
			return begin();
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
			boolean mine = this.lent != null;
			this.lent = null;
			return mine;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Brings back a slab that is done, on the event loop. */
	void comeBack(Slab slab) {
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
	 * @param borrows whether to stop waiting once a slab has been lent for a
	 * {@linkplain #PAUSE_NANOS pause}, which is then waited for even if it is longer
	 * @return the slab, or {@code null} if none came
	 */
	@Nullable Slab poll(long nanos, boolean borrows) throws InterruptedException {
		this.lock.lock();
		try {
			long deadline = System.nanoTime() + nanos;
			while (this.done.isEmpty() && this.filled.isEmpty()) {
				long until = (borrows && this.lent != null) ? this.lentSince + PAUSE_NANOS : deadline;
				long left = until - System.nanoTime();
				if (left <= 0) {
					return null;
				}
				this.changed.awaitNanos(left);
			}
			return (this.done.isEmpty()) ? this.filled.remove() : this.done.remove();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Takes the slab that is lent, on the lane's thread.
	 * @return the slab, or {@code null} if none is lent or a filled one comes first
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
	 * Ends the lane's thread, unless something is left to do.
	 * @return {@code false} if the thread has to go on
	 */
	boolean leave() {
		this.lock.lock();
		try {
			this.running = !this.filled.isEmpty() || !this.done.isEmpty() || this.lent != null;
			return !this.running;
		}
		finally {
			this.lock.unlock();
		}
	}

	private boolean begin() {
		this.changed.signal();
		boolean begins = !this.running;
		this.running = true;
		return begins;
	}

}
