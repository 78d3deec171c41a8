package io.pipeset.keep;

import io.pipeset.memory.MemoryShare;
import io.pipeset.report.Ending;

/**
 * A job that has ended and whose report has not been written to the caller yet.
 *
 * @param effective whether it certainly changed data in Redis
 * @param touched whether it may have changed data in Redis
 * @param memory the memory of the report; its owner closes it after writing the report
 */
public record EndedJob<R>(String id, R report, Ending ending, boolean effective, boolean touched, MemoryShare memory) {

	/** A job that certainly changed data, or certainly did not. */
	public EndedJob(String id, R report, Ending ending, boolean effective, MemoryShare memory) {
		this(id, report, ending, effective, effective, memory);
	}

	/** The same job with another reason for its end. */
	public EndedJob<R> with(Ending ending) {
		return new EndedJob<>(this.id, this.report, ending, this.effective, this.touched, this.memory);
	}

	/** The same job with another report. */
	public EndedJob<R> with(R report) {
		return new EndedJob<>(this.id, report, this.ending, this.effective, this.touched, this.memory);
	}

}
