package io.pipeset.job;

import io.pipeset.lane.JobStop;
import io.pipeset.report.JobClock;

/** A job as the queue sees it: it has a place, or waits for one. */
interface QueuedJob {

	/** Ends it early. */
	JobStop stop();

	/** Takes note of how long it waits. */
	JobClock clock();

}
