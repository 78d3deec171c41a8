package io.pipeset.lane;

import java.util.concurrent.Executor;

import io.pipeset.pipeline.PipelineProperties;
import io.pipeset.pipeline.RedisNodes;
import io.pipeset.report.Account;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobMeters;
import org.jspecify.annotations.Nullable;

/**
 * The things that the lanes of one job share.
 *
 * @param settings how to run the records
 * @param account takes the outcome of each record
 * @param clock takes note of the job's time
 * @param stop tells whether the job is to write nothing more
 * @param retries the losses that the job may still survive
 * @param inFlight the bytes that all jobs have on their way
 * @param nodes the server, or the servers, that the records go to
 * @param pipeline how much a lane may have on its way
 * @param meters takes note of each batch
 * @param executor runs lanes
 * @param unknownPops is asked after each loss; {@code null} for a job whose pops may stay
 * unknown
 * @param memory the memory of the job's slabs
 * @param errorCheck stops the job if there are too many errors; run after each slab
 */
public record LaneContext(LaneSettings settings, Account account, JobClock clock, JobStop stop, Retries retries,
		InFlightBytes inFlight, RedisNodes nodes, PipelineProperties pipeline, JobMeters meters, Executor executor,
		@Nullable UnknownPops unknownPops, SlabMemory memory, Runnable errorCheck) {

	/**
	 * The things that the lanes to one of several masters share.
	 * @param masters how many masters there are
	 * @return the same, but for their part of the window
	 */
	LaneContext atOneOf(int masters) {
		return new LaneContext(this.settings, this.account, this.clock, this.stop, this.retries, this.inFlight,
				this.nodes, this.pipeline.dividedBy(masters), this.meters, this.executor, this.unknownPops, this.memory,
				this.errorCheck);
	}

}
