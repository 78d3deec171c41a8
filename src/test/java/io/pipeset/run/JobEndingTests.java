package io.pipeset.run;

import java.util.Set;

import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The detail of an ending explains its cause, and also mentions lost records. */
class JobEndingTests {

	@ParameterizedTest
	@EnumSource(value = Cause.class, names = { "STOPPED", "SHUTTING_DOWN", "REDIS_REFUSES" })
	void aStoppedJobWithUnknownRecordsReportsTheLossAndTheStop(Cause cause) {
		Ending ending = JobEnding.of(new Ending(cause, "Why it stopped."), Ending.COMPLETED, 7, 0, true, false);
		assertThat(ending.cause()).isEqualTo(Cause.REDIS_LOST);
		assertThat(ending.detail()).startsWith("7 records were in flight when the connection to Redis was lost")
			.contains("may have run")
			.endsWith("Why it stopped.")
			.doesNotContain("went on");
		assertThat(JobEnding.of(new Ending(cause, "Why it stopped."), Ending.COMPLETED, 0, 0, true, false))
			.isEqualTo(new Ending(cause, "Why it stopped."));
	}

	@Test
	void aJobWhoseRecordsAllRanIsCompletedDespiteAShutdown() {
		Ending stop = new Ending(Cause.SHUTTING_DOWN, "The service is shutting down.");
		assertThat(JobEnding.of(stop, Ending.COMPLETED, 0, 0, true, true)).isEqualTo(Ending.COMPLETED);
		assertThat(JobEnding.isInterrupted(stop, true, true)).isFalse();
		assertThat(JobEnding.of(stop, Ending.COMPLETED, 0, 0, true, false)).isEqualTo(stop);
		assertThat(JobEnding.isInterrupted(stop, true, false)).isTrue();
	}

	/** Without a shutdown, each of these causes ends the job finally. */
	@ParameterizedTest
	@EnumSource(Cause.class)
	void onlyAShutdownInterruptsAJob(Cause cause) {
		Ending stop = new Ending(cause, "Why.");
		assertThat(JobEnding.isInterrupted(stop, false, false)).isFalse();
		assertThat(JobEnding.isInterrupted(stop, true, false))
			.isEqualTo(Set.of(Cause.SHUTTING_DOWN, Cause.REDIS_LOST, Cause.REDIS_UNREACHABLE, Cause.CONTROL_UNREACHABLE)
				.contains(cause));
		assertThat(JobEnding.isInterrupted(null, true, false)).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "REDIS_LOST, true, REDIS_LOST", "REDIS_LOST, false, REDIS_UNREACHABLE",
			"REDIS_UNREACHABLE, true, REDIS_LOST", "REDIS_UNREACHABLE, false, REDIS_UNREACHABLE" })
	void aLossOfRedisIsTheCauseIfAnythingWasWritten(Cause stop, boolean written, Cause cause) {
		Ending input = new Ending(Cause.CANCELLED, "The caller went away.");
		assertThat(JobEnding.of(new Ending(stop, "Silent for 5s."), input, (written) ? 3 : 0, 0, written, false))
			.isEqualTo(new Ending(cause, "Silent for 5s."));
	}

	@Test
	void aJobThatContinuedAfterALossReportsTheLossAndTheEndOfItsInput() {
		assertThat(JobEnding.of(null, Ending.COMPLETED, 2, 0, true, false).detail()).startsWith("2 records")
			.endsWith("The job went on with the others.");
		Ending ending = JobEnding.of(null, new Ending(Cause.STALLED, "Nothing came."), 2, 0, true, false);
		assertThat(ending.cause()).isEqualTo(Cause.REDIS_LOST);
		assertThat(ending.detail()).startsWith("2 records").endsWith("Nothing came.");
		assertThat(JobEnding.of(null, new Ending(Cause.STALLED, "Nothing came."), 0, 0, true, false).cause())
			.isEqualTo(Cause.STALLED);
	}

	@Test
	void unconfirmedRecordsAreNotReportedAsInFlight() {
		Ending ending = JobEnding.of(null, Ending.COMPLETED, 2, 2, true, false);
		assertThat(ending.cause()).isEqualTo(Cause.REDIS_LOST);
		assertThat(ending.detail()).startsWith("2 records ran, but fewer replicas")
			.endsWith("The job went on with the others.")
			.doesNotContain("in flight");
		assertThat(JobEnding.of(null, Ending.COMPLETED, 5, 2, true, false).detail())
			.startsWith("3 records were in flight")
			.contains("2 records ran, but fewer replicas");
		assertThat(JobEnding.of(new Ending(Cause.REDIS_LOST, "Silent."), Ending.COMPLETED, 2, 2, true, false).detail())
			.startsWith("Silent. 2 records ran");
	}

}
