package io.pipeset.job;

import io.pipeset.report.JobMeters;
import org.jspecify.annotations.Nullable;

/**
 * The place in which jobs run: for callers or for the service itself, and beside other
 * jobs or inside of one.
 *
 * @param own whether they are the service's own, which may use keys under
 * {@code pipeset:} and are not logged
 * @param task the task in whose place in the queue they run, with its memory and to no
 * later end than its own; a job that is stopped stops the task. {@code null} if each
 * takes a place of its own
 */
public record JobPlace(JobMeters meters, boolean own, @Nullable Task task) {

}
