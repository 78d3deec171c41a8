package io.pipeset.engine.lane;

import java.util.concurrent.Executor;

import io.micrometer.observation.Observation;
import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.report.Account;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobMeters;
import org.jspecify.annotations.Nullable;

/**
 * The things that the lanes of one job share.
 *
 * @param retries the losses that the job may still survive
 * @param inFlight the bytes that all jobs have on their way
 * @param pipeline how much a lane may have on its way
 * @param trace the parent of the observations of its batches
 * @param unknownPops is asked after each loss; {@code null} for a job whose pops may stay
 * unknown
 * @param errorCheck stops the job if there are too many errors; run after each slab
 */
public record LaneContext(LaneSettings settings, Account account, JobClock clock, JobStop stop, Retries retries,
		InFlightBytes inFlight, RedisNodes nodes, PipelineProperties pipeline, JobMeters meters, Observation trace,
		Executor executor, @Nullable LostPopResolver unknownPops, SlabMemory memory, Runnable errorCheck) {

	/** Whether records go by their slots, which may move, to one of several masters. */
	boolean areSlotsFollowed() {
		return this.nodes.isCluster();
	}

	/**
	 * The things that the lanes to one of several masters share.
	 * @return the same, but for their part of the window
	 */
	LaneContext atOneOf(int masters) {
		return new LaneContext(this.settings, this.account, this.clock, this.stop, this.retries, this.inFlight,
				this.nodes, this.pipeline.dividedBy(masters), this.meters, this.trace, this.executor, this.unknownPops,
				this.memory, this.errorCheck);
	}

}
