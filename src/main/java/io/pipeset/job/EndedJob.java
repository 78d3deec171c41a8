package io.pipeset.job;

import io.pipeset.job.memory.MemoryShare;
import io.pipeset.report.Ending;

/**
 * A job that has ended and whose report is still to be written.
 *
 * @param effective whether it changed anything in Redis
 * @param touched whether it may have changed something in Redis
 * @param memory the memory of the report, to be closed once the report is written
 */
public record EndedJob<R>(String id, R report, Ending ending, boolean effective, boolean touched, MemoryShare memory) {

	/** A job that knows whether it changed anything. */
	public EndedJob(String id, R report, Ending ending, boolean effective, MemoryShare memory) {
		this(id, report, ending, effective, effective, memory);
	}

	/** The same job with more to say about its end. */
	public EndedJob<R> with(Ending ending) {
		return new EndedJob<>(this.id, this.report, ending, this.effective, this.touched, this.memory);
	}

	/** The same job with another report. */
	public EndedJob<R> with(R report) {
		return new EndedJob<>(this.id, report, this.ending, this.effective, this.touched, this.memory);
	}

}
