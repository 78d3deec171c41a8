package io.pipeset.job;

import io.pipeset.report.JobReport;

/**
 * A job that has ended and whose report is still to be written.
 *
 * @param report the account of its records
 * @param memory what the report takes until it is written, and closed
 */
public record EndedJob(JobReport report, MemoryShare memory) {

}
