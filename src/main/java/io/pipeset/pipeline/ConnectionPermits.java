package io.pipeset.pipeline;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Permits to take a connection of a node, as many as all jobs together may hold. Threads
 * that wait for one get it in the order of their coming: a permit that is released is
 * handed over to the thread that has waited longest, so that no other slips in between.
 */
public final class ConnectionPermits {

	private final int permits;

	private final ReentrantLock lock = new ReentrantLock();

	private final Deque<Turn> waiting = new ArrayDeque<>();

	private int free;

	ConnectionPermits(int permits) {
		this.permits = permits;
		this.free = permits;
	}

	/**
	 * Waits for a permit.
	 * @return {@code false} if there was none in time
	 */
	public boolean acquire(long nanos, StopSignal stop) throws InterruptedException {
		Turn turn = new Turn(this.lock.newCondition());
		Runnable wake = () -> wake(turn);
		this.lock.lock();
		try {
			if (tryAcquire()) {
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
			boolean mine = this.free > 0 && this.waiting.isEmpty();
			this.free -= (mine) ? 1 : 0;
			return mine;
		}
		finally {
			this.lock.unlock();
		}
	}

	public void release() {
		this.lock.lock();
		try {
			Turn next = this.waiting.poll();
			if (next != null) {
				next.come = true;
				next.condition.signal();
			}
			else {
				this.free++;
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/** How many permits there are. */
	public int count() {
		return this.permits;
	}

	/** How many permits are taken. */
	public int taken() {
		this.lock.lock();
		try {
			return this.permits - this.free;
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

		private final Condition condition;

		private boolean come;

		private Turn(Condition condition) {
			this.condition = condition;
		}

	}

}
