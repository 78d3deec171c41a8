package io.pipeset.engine.lane;

/** How many losses a job may still survive, over all of its lanes. */
public final class Retries {

	private int left;

	/** Whether a retry was taken, and when, by {@link System#nanoTime()}. */
	private boolean taken;

	private long takenNanos;

	public Retries(int retries) {
		this.left = retries;
	}

	synchronized boolean isLeft() {
		return this.left > 0;
	}

	/**
	 * Whether {@link #take} would return {@code true}.
	 * @param healthyNanos as in {@link #take}
	 */
	synchronized boolean isLeft(long healthyNanos) {
		return this.left > 0 || isTakenSince(healthyNanos);
	}

	private boolean isTakenSince(long healthyNanos) {
		return this.taken && healthyNanos - this.takenNanos < 0;
	}

	/**
	 * Takes a retry for a failure. If the job has taken a retry since the lane was last
	 * healthy, both lanes met the same failure, and no further retry is taken. For
	 * example, their server ended.
	 * @param healthyNanos when the lane was last healthy, by {@link System#nanoTime()}
	 * @return {@code false} if no retry is left
	 */
	synchronized boolean take(long healthyNanos) {
		if (isTakenSince(healthyNanos)) {
			return true;
		}
		if (this.left == 0) {
			return false;
		}
		this.left--;
		this.taken = true;
		this.takenNanos = System.nanoTime();
		return true;
	}

}
