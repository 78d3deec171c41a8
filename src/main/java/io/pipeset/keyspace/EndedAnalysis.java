package io.pipeset.keyspace;

import io.pipeset.memory.MemoryShare;
import io.pipeset.report.Ending;

/**
 * An analysis that has ended.
 *
 * @param analysis what it found
 * @param ending the reason for its end
 * @param memory its share of the service's memory, to be closed when the answer is
 * written
 */
public record EndedAnalysis(Analysis analysis, Ending ending, MemoryShare memory) {

}
