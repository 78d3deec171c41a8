package io.pipeset.job;

/** How long a job has waited for its body, as others may see at any time. */
final class BodyPauses {

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

	/** All of them, with the one that goes on. */
	synchronized long nanos() {
		return this.over + ((this.goesOn) ? System.nanoTime() - this.began : 0);
	}

}
