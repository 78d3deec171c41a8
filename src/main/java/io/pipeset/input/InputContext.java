package io.pipeset.input;

import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.Lanes;
import io.pipeset.memory.MemoryShare;
import io.pipeset.record.Operation;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.request.ByteLimit;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a job that its input needs.
 *
 * @param caller the caller of the job; its upload is ended if it is idle while the job is
 * stopped
 * @param lanes the lanes, which borrow the records read so far before the input may block
 * @param job the context that the lanes share, with the job's stop and executor
 * @param memory the memory of the job, which measures how long the input waits
 * @param operation the operation of records that name none; {@code null} if each record
 * must name one
 * @param inflatedLimit the most inflated bytes of a compressed body
 */
public record InputContext(String jobId, Caller caller, Lanes lanes, LaneContext job, MemoryShare memory,
		@Nullable Operation operation, Mapping mapping, RecordLimit limit, ByteLimit inflatedLimit) {

}
