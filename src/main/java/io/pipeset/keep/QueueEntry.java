package io.pipeset.keep;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.report.JobClock;

/** A job or upload that takes a permit to run, and waits for it in the queue. */
public interface QueueEntry {

	/** Stops the entry early. */
	JobStop stop();

	/** Counts how long the entry waits. */
	JobClock clock();

	/** Whether it is known before it begins that it is short. */
	default boolean isSmall() {
		return false;
	}

}
