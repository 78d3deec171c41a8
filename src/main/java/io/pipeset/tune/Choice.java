package io.pipeset.tune;

import io.pipeset.pipeline.flush.FlushPolicy;

/**
 * The settings by which the rows of a grid differ.
 *
 * @param batchSize the most commands in a batch
 * @param flush when commands are written to the socket
 * @param concurrency the lanes
 */
record Choice(int batchSize, FlushPolicy flush, int concurrency) {

	@Override
	public String toString() {
		return "batchSize=" + this.batchSize + ", flush=" + this.flush + ", concurrency=" + this.concurrency;
	}

}
