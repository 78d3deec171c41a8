package io.pipeset.keep;

import io.pipeset.memory.MemoryShare;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import io.pipeset.report.Progress.Tally;
import io.pipeset.report.Verified;
import io.pipeset.request.RateLimit;
import org.jspecify.annotations.Nullable;

/** A job that waits or runs. */
public interface JobRun extends QueueEntry {

	String id();

	JobKind kind();

	/**
	 * The operation of the records, or {@code mixed}; the kind for a job without records.
	 */
	String operation();

	/**
	 * Whether the job only checks its records.
	 * @return {@code true} for a dry run, otherwise {@code null}
	 */
	default @Nullable Boolean dryRun() {
		return null;
	}

	/**
	 * How the records compare with what Redis has; {@code null} if they are not compared.
	 */
	default @Nullable Verified verified() {
		return null;
	}

	/** The caller's name for the job; {@code null} if the caller gave none. */
	default @Nullable String label() {
		return null;
	}

	/** The URL for the report of the ended job; {@code null} for none. */
	default @Nullable String callback() {
		return null;
	}

	/** The job's share of the service's memory. */
	MemoryShare memory();

	/** The part of the report's memory that the settings take, in bytes. */
	default long settingsBytes() {
		return 0;
	}

	/** The rate limit; {@code null} for a job that cannot have one. */
	@Nullable RateLimit rateLimit();

	/** The records that are not applied; {@code null} if they are not stored. */
	default @Nullable JobItems items() {
		return null;
	}

	/** The progress so far; any thread may call it at any time. */
	Tally tally();

	/**
	 * The report so far.
	 * @param state queued or running
	 * @return {@code null} for a job that has no report before its end
	 */
	@Nullable JobReport snapshot(JobState state);

}
