package io.pipeset.engine.lane;

/** The losses that a job may still survive, in all of its lanes together. */
public final class Retries {

	private int left;

	/** Whether a retry was taken, and when: a time of {@link System#nanoTime()}. */
	private boolean taken;

	private long takenNanos;

	public Retries(int retries) {
		this.left = retries;
	}

	synchronized boolean isLeft() {
		return this.left > 0;
	}

	/**
	 * Whether a trouble would get a retry.
	 * @param wellNanos as in {@link #take}
	 */
	synchronized boolean isLeft(long wellNanos) {
		return this.left > 0 || isTaken(wellNanos);
	}

	private boolean isTaken(long wellNanos) {
		return this.taken && wellNanos - this.takenNanos < 0;
	}

	/**
	 * Takes a retry for a trouble, unless the job has taken one since the lane was well.
	 * Two lanes then met the same trouble: their server ended, for instance.
	 * @param wellNanos when the lane was well for the last time, by
	 * {@link System#nanoTime()}
	 * @return {@code false} if none is left
	 */
	synchronized boolean take(long wellNanos) {
		if (isTaken(wellNanos)) {
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
