package io.pipeset.job;

import io.pipeset.memory.MemoryShare;
import io.pipeset.report.Ending;
import io.pipeset.report.JobReport;

/**
 * A job that has ended and whose report is still to be written.
 *
 * @param report the account of its records
 * @param ending the reason for its end
 * @param memory the memory of the report, to be closed once the report is written
 */
public record EndedJob(JobReport report, Ending ending, MemoryShare memory) {

}
