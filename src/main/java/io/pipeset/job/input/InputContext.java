package io.pipeset.job.input;

import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.Lanes;
import io.pipeset.job.memory.MemoryShare;
import io.pipeset.record.Operation;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.mapping.Mapping;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a job that its input needs.
 *
 * @param caller the caller of the job, whose upload is ended if the job is stopped while
 * it pauses
 * @param lanes the lanes, which are lent the records read so far before the input may
 * block
 * @param job the things that the lanes share, among them the job's stop and the executor
 * of threads
 * @param memory the memory of the input, which takes note of how long the input pauses
 * @param operation the operation of records that name none; {@code null} if they have to
 * @param inflated the bytes that a gzip body may stand for
 */
public record InputContext(String jobId, Caller caller, Lanes lanes, LaneContext job, MemoryShare memory,
		@Nullable Operation operation, Mapping mapping, RecordLimit limit, ByteLimit inflated) {

}
