package io.pipeset.run;

import io.pipeset.report.JobMeters;
import io.pipeset.request.Client;
import org.jspecify.annotations.Nullable;

/**
 * On whose behalf jobs run: a client or the service itself, and by themselves or as part
 * of a task.
 *
 * @param client the client that owns the jobs. Jobs of the service itself are not logged,
 * and no client can see them
 * @param task the task that the jobs are part of. They use its permit, its memory and its
 * stop, so that a job that stops also stops the task. {@code null} if each job takes a
 * permit of its own
 */
public record JobOwner(JobMeters meters, Client client, @Nullable Task task) {

	/** Whether the jobs belong to the service itself. */
	boolean isService() {
		return this.client == Client.SERVICE;
	}

}
