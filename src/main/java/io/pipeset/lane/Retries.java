package io.pipeset.lane;

import java.util.concurrent.atomic.AtomicInteger;

/** The losses that a job may still survive, in all of its lanes together. */
public final class Retries {

	private final AtomicInteger left;

	/**
	 * Counts the losses of a job.
	 * @param retries how many it may survive
	 */
	public Retries(int retries) {
		this.left = new AtomicInteger(retries);
	}

	boolean isLeft() {
		return this.left.get() > 0;
	}

	/** Takes one retry; {@code false} if none is left. */
	boolean take() {
		return this.left.getAndUpdate((retries) -> Math.max(retries - 1, 0)) > 0;
	}

}
