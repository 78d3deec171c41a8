package io.pipeset.job.run;

import io.pipeset.job.Client;
import io.pipeset.report.JobMeters;
import org.jspecify.annotations.Nullable;

/**
 * The place in which jobs run: for callers or for the service itself, and beside other
 * jobs or inside of one.
 *
 * @param client the client whose jobs they are; those of the service itself are not
 * logged, and nobody may look at them
 * @param task the task in whose place in the queue they run, with its memory and to no
 * later end than its own; a job that is stopped stops the task. {@code null} if each
 * takes a place of its own
 */
public record JobOwner(JobMeters meters, Client client, @Nullable Task task) {

	/** Whether the jobs are the service's own. */
	boolean own() {
		return this.client == Client.SERVICE;
	}

}
