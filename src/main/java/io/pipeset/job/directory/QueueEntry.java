package io.pipeset.job.directory;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.report.JobClock;

/** That which waits for a place in the queue, and takes it. */
public interface QueueEntry {

	/** Ends it early. */
	JobStop stop();

	/** Takes note of how long it waits. */
	JobClock clock();

	/** Whether it will be through in a moment, as is known before it begins. */
	default boolean isSmall() {
		return false;
	}

}
