package io.pipeset.engine.lane;

import java.time.Duration;

import io.pipeset.engine.pipeline.flush.FlushPolicy;

/**
 * The settings by which a job's lanes run its records.
 *
 * @param batchSize the commands in one call of {@code executePipelined} at most
 * @param concurrency the lanes
 * @param timeout the longest silence of Redis since the oldest unanswered write
 * @param retries the losses of its connection to Redis that the job survives
 * @param replicas how many replicas have to confirm each batch
 * @param replicasTimeout how long they have
 * @param atomic whether each batch is a transaction
 * @param coalesces whether neighbouring records may go as one command
 */
public record LaneSettings(int batchSize, FlushPolicy flush, int concurrency, Duration timeout, int retries,
		int replicas, Duration replicasTimeout, boolean atomic, boolean coalesces) {

	int commandsPerWrite() {
		return this.flush.commandsPerWrite(this.batchSize);
	}

}
