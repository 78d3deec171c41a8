package io.pipeset.keyspace.tuning;

import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.request.JobDefaults;
import io.pipeset.request.JobSettings;

/**
 * The settings of one row of the grid.
 *
 * @param batchSize the most commands in a batch
 * @param flush when a lane writes to its socket
 * @param concurrency the number of lanes
 */
public record RowSettings(int batchSize, FlushPolicy flush, int concurrency) {

	/** The default settings of jobs. */
	static RowSettings of(JobDefaults defaults) {
		JobSettings settings = defaults.toSettings();
		return new RowSettings(settings.batching().batchSize(), settings.batching().flush(),
				settings.batching().concurrency());
	}

	/**
	 * What these settings mean for so many records. Rows of which this is the same are
	 * the same row: a batch has no more records than a lane, and a write no more than a
	 * batch.
	 */
	RowSettings effective(int records) {
		int batch = Math.min(this.batchSize, (records + this.concurrency - 1) / this.concurrency);
		return new RowSettings(batch, FlushPolicy.buffered(this.flush.commandsPerWrite(batch)), this.concurrency);
	}

	@Override
	public String toString() {
		return "batchSize=" + this.batchSize + ", flush=" + this.flush + ", concurrency=" + this.concurrency;
	}

}
