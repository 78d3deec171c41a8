package io.pipeset.engine.pipeline;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Permits to take a connection of a node, as many as all jobs together may hold. Threads
 * that wait for one get it in the order of their coming: a permit that is released is
 * handed over to the thread that has waited longest, so that no other slips in between.
 * <p>
 * There are some more for the first batches of jobs, which are short where connections
 * are scarce. So a small job does not wait until long ones have made room for it, and
 * overtakes whoever has waited longest, which is bounded.
 */
public final class ConnectionPermits {

	private static final int MOST_OVERTAKING = 16;

	private final int permits;

	/** How many more there are for first batches. */
	private final int more;

	private final ReentrantLock lock = new ReentrantLock();

	private final Deque<Turn> waiting = new ArrayDeque<>();

	private int taken;

	/**
	 * Permits of which none is taken.
	 * @param permits how many there are, 1 or more
	 * @param more how many more there are for first batches, 0 or more
	 */
	ConnectionPermits(int permits, int more) {
		this.permits = permits;
		this.more = more;
	}

	/**
	 * Waits for a permit.
	 * @param first whether it is for the first batch of a job
	 * @return {@code false} if there was none in time
	 */
	public boolean acquire(boolean first, long nanos, StopSignal stop) throws InterruptedException {
		Turn turn = new Turn(first, this.lock.newCondition());
		Runnable wake = () -> wake(turn);
		this.lock.lock();
		try {
			if (isDue(turn) && mayOvertake()) {
				take(turn);
				return true;
			}
			this.waiting.add(turn);
			stop.add(wake);
			long left = nanos;
			while (!turn.come && !stop.isSet() && left > 0) {
				left = turn.condition.awaitNanos(left);
			}
			return turn.come;
		}
		catch (InterruptedException ex) {
			if (!turn.come) {
				throw ex;
			}
			Thread.currentThread().interrupt();
			return true;
		}
		finally {
			if (!turn.come) {
				this.waiting.remove(turn);
			}
			this.lock.unlock();
			stop.remove(wake);
		}
	}

	/**
	 * Takes a permit, unless none is free or other threads wait for one.
	 * @return {@code false} if it took none
	 */
	public boolean tryAcquire() {
		this.lock.lock();
		try {
			boolean mine = this.taken < this.permits && this.waiting.isEmpty();
			this.taken += (mine) ? 1 : 0;
			return mine;
		}
		finally {
			this.lock.unlock();
		}
	}

	public void release() {
		this.lock.lock();
		try {
			this.taken--;
			Turn longest = this.waiting.peek();
			Turn next = (longest != null && isDue(longest)) ? longest : null;
			if (next == null && mayOvertake()) {
				next = this.waiting.stream().filter(this::isDue).findFirst().orElse(null);
			}
			if (next != null) {
				take(next);
				next.condition.signal();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private void take(Turn turn) {
		Turn longest = this.waiting.peek();
		if (longest != null && longest != turn) {
			longest.overtaken++;
		}
		this.waiting.remove(turn);
		this.taken++;
		turn.come = true;
	}

	/** Whether whoever has waited longest is not due, and may wait on. */
	private boolean mayOvertake() {
		Turn longest = this.waiting.peek();
		return longest == null || (!isDue(longest) && longest.overtaken < MOST_OVERTAKING);
	}

	/** Whether this thread may have a permit, as far as those before it let it. */
	private boolean isDue(Turn turn) {
		return this.taken < this.permits + ((turn.first) ? this.more : 0);
	}

	/** Whether somebody waits for a permit, or first batches have some of theirs. */
	public boolean isScarce() {
		this.lock.lock();
		try {
			return this.taken > this.permits || !this.waiting.isEmpty();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** How many permits there are, without those for first batches only. */
	public int count() {
		return this.permits;
	}

	/** How many permits are taken. */
	public int taken() {
		this.lock.lock();
		try {
			return this.taken;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** How many threads wait for a permit, one of each job at most. */
	public int waiting() {
		this.lock.lock();
		try {
			return this.waiting.size();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void wake(Turn turn) {
		this.lock.lock();
		try {
			turn.condition.signal();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** The place of a thread that waits. */
	private static final class Turn {

		private final boolean first;

		private final Condition condition;

		private boolean come;

		/** How often another got a permit while this one had waited longest. */
		private int overtaken;

		private Turn(boolean first, Condition condition) {
			this.first = first;
			this.condition = condition;
		}

	}

}
