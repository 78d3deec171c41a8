package io.pipeset.job;

import java.util.concurrent.atomic.AtomicInteger;

/** The losses that a job may still survive, in all of its lanes together. */
final class Retries {

	private final AtomicInteger left;

	Retries(int retries) {
		this.left = new AtomicInteger(retries);
	}

	boolean isLeft() {
		return this.left.get() > 0;
	}

	/** Takes one; {@code false} where none is left. */
	boolean take() {
		return this.left.getAndUpdate((retries) -> Math.max(retries - 1, 0)) > 0;
	}

}
