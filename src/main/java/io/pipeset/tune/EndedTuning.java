package io.pipeset.tune;

import io.pipeset.memory.MemoryShare;
import io.pipeset.report.Ending;

/**
 * A tuning that has ended and whose report is still to be written.
 *
 * @param report its figures, to be written as JSON
 * @param ending the reason for its end
 * @param effective whether it wrote anything to Redis
 * @param memory its memory, to be closed once the report is written
 */
public record EndedTuning(Object report, Ending ending, boolean effective, MemoryShare memory) {

}
