package io.pipeset.report;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The status of a job without heartbeats counts records as unknown if they may have been
 * sent.
 */
class JobStatusTests {

	@Test
	void unprocessedRecordsOfAnInterruptedJobAreUnknown() {
		assertThat(status(null).interrupted("gone").counts()).isEqualTo(new Counts(194, 4, 3, 2, 185, 0));
	}

	@Test
	void aDryRunSendsNothing() {
		assertThat(status(true).interrupted("gone").counts()).isEqualTo(new Counts(194, 4, 3, 2, 1, 184));
	}

	private static JobStatus status(Boolean dryRun) {
		return new JobStatus("id", JobKind.RECORDS, "SET", dryRun, null, JobState.RUNNING, 0, null,
				new Counts(194, 4, 3, 2, 1, 184), new Progress(194, 9, null, null, 0, 0, 0, null), null);
	}

}
