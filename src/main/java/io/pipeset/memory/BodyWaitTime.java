package io.pipeset.memory;

/** The time that a job has waited for its request body; readable by any thread. */
final class BodyWaitTime {

	/** The sum of the waits that have ended, in nanoseconds. */
	private long endedNanos;

	private long startNanos;

	private boolean waiting;

	synchronized void begin() {
		this.startNanos = System.nanoTime();
		this.waiting = true;
	}

	synchronized void end() {
		this.endedNanos += System.nanoTime() - this.startNanos;
		this.waiting = false;
	}

	/** The sum of all waits, including the current one, in nanoseconds. */
	synchronized long nanos() {
		return this.endedNanos + ((this.waiting) ? System.nanoTime() - this.startNanos : 0);
	}

}
