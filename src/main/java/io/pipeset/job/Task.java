package io.pipeset.job;

import io.pipeset.lane.JobStop;
import io.pipeset.memory.MemoryShare;
import io.pipeset.report.Ending;
import io.pipeset.report.JobClock;

/**
 * A job that is no stream of records, such as an analysis, from its admission to its end.
 *
 * @param id its name in logs and reports
 * @param stop ends it early; the task looks at it whenever it has waited
 * @param clock its times
 * @param memory its share of the service's memory, to be closed when its answer is
 * written
 */
public record Task(String id, JobStop stop, JobClock clock, MemoryShare memory) implements QueuedJob {

	/**
	 * The reason for its end.
	 * @return the reason of its stop, or {@link Ending#COMPLETED} while it has none
	 */
	public Ending ending() {
		Ending stopped = this.stop.ending();
		return (stopped != null) ? stopped : Ending.COMPLETED;
	}

}
