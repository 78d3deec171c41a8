package io.pipeset.engine.lane;

import java.util.concurrent.Executor;

import io.micrometer.observation.Observation;
import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.slab.Verification;
import io.pipeset.report.Account;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobMeters;
import org.jspecify.annotations.Nullable;

/**
 * What the lanes of one job share.
 *
 * @param retries how many losses the job may still survive
 * @param inFlight the bytes in flight of all jobs
 * @param pipeline limits how much a lane may have in flight
 * @param trace the parent observation of the lanes' batches
 * @param unknownPops resolves pops after each loss; {@code null} if the job's pops may
 * stay unknown
 * @param mark tells what ran; {@code null} without {@code exactlyOnce}
 * @param verification compares the records instead of writing them; {@code null} for jobs
 * that write
 * @param errorCheck stops the job if it has too many errors; runs after each slab
 */
public record LaneContext(LaneSettings settings, Account account, JobClock clock, JobStop stop, Retries retries,
		InFlightBytes inFlight, RedisNodes nodes, PipelineProperties pipeline, JobMeters meters, Observation trace,
		Executor executor, @Nullable LostPopResolver unknownPops, SlabMemory memory, @Nullable JobMark mark,
		@Nullable Verification verification, Runnable errorCheck) {

	/** The context of a job that writes, without a mark. */
	public LaneContext(LaneSettings settings, Account account, JobClock clock, JobStop stop, Retries retries,
			InFlightBytes inFlight, RedisNodes nodes, PipelineProperties pipeline, JobMeters meters, Observation trace,
			Executor executor, @Nullable LostPopResolver unknownPops, SlabMemory memory, Runnable errorCheck) {
		this(settings, account, clock, stop, retries, inFlight, nodes, pipeline, meters, trace, executor, unknownPops,
				memory, null, null, errorCheck);
	}

	/** The context of further commands of the same job, which are no records. */
	public LaneContext ofOtherCommands(Verification verification) {
		return new LaneContext(this.settings, this.account.ofOtherCommands(), this.clock, this.stop, this.retries,
				this.inFlight, this.nodes, this.pipeline, this.meters, this.trace, this.executor, null, this.memory,
				null, verification, () -> {
				});
	}

	/** Whether each record goes to the master of its slot, and slots may move. */
	boolean isCluster() {
		return this.nodes.isCluster();
	}

	/**
	 * Divides the window by the number of masters.
	 * @return the same context with a smaller window
	 */
	LaneContext withWindowDividedBy(int masters) {
		return new LaneContext(this.settings, this.account, this.clock, this.stop, this.retries, this.inFlight,
				this.nodes, this.pipeline.dividedBy(masters), this.meters, this.trace, this.executor, this.unknownPops,
				this.memory, this.mark, this.verification, this.errorCheck);
	}

}
