package io.pipeset.job;

import io.pipeset.memory.MemoryShare;
import io.pipeset.report.Ending;

/**
 * A job that has ended and whose report is still to be written.
 *
 * @param effective whether it changed anything in Redis
 * @param memory the memory of the report, to be closed once the report is written
 */
public record EndedJob<R>(String id, R report, Ending ending, boolean effective, MemoryShare memory) {

}
