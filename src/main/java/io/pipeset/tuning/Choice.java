package io.pipeset.tuning;

import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.job.settings.JobDefaults;
import io.pipeset.job.settings.JobSettings;

/**
 * The settings by which the rows of a grid differ.
 *
 * @param batchSize the most commands in a batch
 * @param concurrency the lanes
 */
public record Choice(int batchSize, FlushPolicy flush, int concurrency) {

	/** The settings of jobs that give none. */
	static Choice of(JobDefaults defaults) {
		JobSettings settings = defaults.toSettings();
		return new Choice(settings.batchSize(), settings.flush(), settings.concurrency());
	}

	@Override
	public String toString() {
		return "batchSize=" + this.batchSize + ", flush=" + this.flush + ", concurrency=" + this.concurrency;
	}

}
