package io.pipeset.job.directory;

import io.pipeset.job.RateLimit;
import io.pipeset.job.journal.JobItems;
import io.pipeset.job.memory.MemoryShare;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import io.pipeset.report.Progress.Tally;
import org.jspecify.annotations.Nullable;

/** A job that waits or runs, as the queue and the calls about jobs see it. */
public interface QueuedJob extends QueueEntry {

	/** Its name in logs, reports and calls. */
	String id();

	JobKind kind();

	/** The operation of its records, or {@code mixed}; its kind if it has no records. */
	String operation();

	/**
	 * Whether it only checks its records.
	 * @return {@code true}, or {@code null} for a job that runs
	 */
	default @Nullable Boolean dryRun() {
		return null;
	}

	/** Its share of the service's memory. */
	MemoryShare memory();

	/** The part of its report's memory that its settings take, in bytes. */
	default long settingsBytes() {
		return 0;
	}

	/** Its pace; {@code null} for a job that has none. */
	@Nullable RateLimit rateLimit();

	/** Its records that do not run as asked; {@code null} if they are not kept. */
	default @Nullable JobItems items() {
		return null;
	}

	/** How far it has come; any thread may ask at any time. */
	Tally tally();

	/**
	 * Its report so far.
	 * @param state whether it waits or runs
	 * @return {@code null} for a job that has none before its end
	 */
	@Nullable JobReport snapshot(JobState state);

}
