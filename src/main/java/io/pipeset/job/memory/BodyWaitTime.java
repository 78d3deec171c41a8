package io.pipeset.job.memory;

/** The time that a job has spent waiting for its body, for any thread to read. */
final class BodyWaitTime {

	/** All pauses that are over, in nanoseconds. */
	private long over;

	private long began;

	private boolean goesOn;

	synchronized void begin() {
		this.began = System.nanoTime();
		this.goesOn = true;
	}

	synchronized void end() {
		this.over += System.nanoTime() - this.began;
		this.goesOn = false;
	}

	/** The sum of all pauses, with the one that goes on. */
	synchronized long nanos() {
		return this.over + ((this.goesOn) ? System.nanoTime() - this.began : 0);
	}

}
