package io.pipeset.engine.lane;

import java.time.Duration;

import io.pipeset.engine.pipeline.flush.FlushPolicy;

/**
 * How a job's lanes send its records.
 *
 * @param batchSize the most records in one call of {@code executePipelined}
 * @param concurrency the number of lanes, in a cluster per master
 * @param timeout how long Redis may be silent while the oldest write is unanswered
 * @param retries how many losses of its connection to Redis the job survives
 * @param replicas how many replicas have to confirm each batch
 * @param replicasTimeout how long the replicas may take to confirm
 * @param atomic whether each batch is a transaction
 * @param coalesces whether adjacent records may go as one command
 */
public record LaneSettings(int batchSize, FlushPolicy flush, int concurrency, Duration timeout, int retries,
		int replicas, Duration replicasTimeout, boolean atomic, boolean coalesces) {

	/** The same settings, by which each record has a command and a reply of its own. */
	public LaneSettings withoutCoalescing() {
		return new LaneSettings(this.batchSize, this.flush, this.concurrency, this.timeout, this.retries, this.replicas,
				this.replicasTimeout, this.atomic, false);
	}

	int commandsPerWrite() {
		return this.flush.commandsPerWrite(this.batchSize);
	}

}
