package io.pipeset.engine.pipeline;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Permits to borrow a connection of a node, which limit the connections of all jobs
 * together. Waiting threads get permits in the order of arrival: a released permit goes
 * directly to the thread that has waited longest, so no other thread can take it first.
 * <p>
 * There are additional permits for the first batches of jobs, which are short when
 * connections are scarce. So a small job does not wait for large ones. A first batch may
 * overtake the thread that has waited longest, but only a limited number of times.
 */
public final class ConnectionPermits {

	private static final int MAX_OVERTAKEN = 16;

	private final int permits;

	/** The number of additional permits for first batches. */
	private final int firstBatchPermits;

	private final ReentrantLock lock = new ReentrantLock();

	private final Deque<Waiter> waiting = new ArrayDeque<>();

	private int taken;

	/**
	 * Creates permits, all free.
	 * @param permits the number of permits, 1 or more
	 * @param firstBatchPermits the number of additional permits for first batches, 0 or
	 * more
	 */
	ConnectionPermits(int permits, int firstBatchPermits) {
		this.permits = permits;
		this.firstBatchPermits = firstBatchPermits;
	}

	/**
	 * Waits for a permit.
	 * @param firstBatch whether the permit is for the first batch of a job
	 * @return {@code false} if no permit was free in time, or the stop signal was set
	 */
	public boolean acquire(boolean firstBatch, long nanos, StopSignal stop) throws InterruptedException {
		Waiter waiter = new Waiter(firstBatch, this.lock.newCondition());
		Runnable wake = () -> wake(waiter);
		this.lock.lock();
		try {
			if (isPermitFree(waiter) && mayOvertake()) {
				take(waiter);
				return true;
			}
			this.waiting.add(waiter);
			stop.add(wake);
			long left = nanos;
			while (!waiter.granted && !stop.isSet() && left > 0) {
				left = waiter.condition.awaitNanos(left);
			}
			return waiter.granted;
		}
		catch (InterruptedException ex) {
			if (!waiter.granted) {
				throw ex;
			}
			Thread.currentThread().interrupt();
			return true;
		}
		finally {
			if (!waiter.granted) {
				this.waiting.remove(waiter);
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
			boolean free = this.taken < this.permits && this.waiting.isEmpty();
			this.taken += (free) ? 1 : 0;
			return free;
		}
		finally {
			this.lock.unlock();
		}
	}

	public void release() {
		this.lock.lock();
		try {
			this.taken--;
			Waiter longest = this.waiting.peek();
			Waiter next = (longest != null && isPermitFree(longest)) ? longest : null;
			if (next == null && mayOvertake()) {
				next = this.waiting.stream().filter(this::isPermitFree).findFirst().orElse(null);
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

	private void take(Waiter waiter) {
		Waiter longest = this.waiting.peek();
		if (longest != null && longest != waiter) {
			longest.overtaken++;
		}
		this.waiting.remove(waiter);
		this.taken++;
		waiter.granted = true;
	}

	/**
	 * Whether other threads may overtake the thread that has waited longest. They may not
	 * if a permit is free for it, or if it was overtaken too often.
	 */
	private boolean mayOvertake() {
		Waiter longest = this.waiting.peek();
		return longest == null || (!isPermitFree(longest) && longest.overtaken < MAX_OVERTAKEN);
	}

	/** Whether a permit is free for this thread, regardless of the threads before it. */
	private boolean isPermitFree(Waiter waiter) {
		return this.taken < this.permits + ((waiter.firstBatch) ? this.firstBatchPermits : 0);
	}

	/**
	 * Whether threads wait for a permit, or first batches use their additional permits.
	 */
	public boolean isScarce() {
		this.lock.lock();
		try {
			return this.taken > this.permits || !this.waiting.isEmpty();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** The number of permits, without those for first batches only. */
	public int count() {
		return this.permits;
	}

	/** The number of permits that are taken. */
	public int taken() {
		this.lock.lock();
		try {
			return this.taken;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** The number of waiting threads, at most one for each job. */
	public int waiting() {
		this.lock.lock();
		try {
			return this.waiting.size();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void wake(Waiter waiter) {
		this.lock.lock();
		try {
			waiter.condition.signal();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A waiting thread. */
	private static final class Waiter {

		private final boolean firstBatch;

		private final Condition condition;

		private boolean granted;

		/** How many permits other threads got while this thread had waited longest. */
		private int overtaken;

		private Waiter(boolean firstBatch, Condition condition) {
			this.firstBatch = firstBatch;
			this.condition = condition;
		}

	}

}
