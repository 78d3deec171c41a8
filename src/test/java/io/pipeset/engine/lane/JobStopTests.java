package io.pipeset.engine.lane;

import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A job is stopped once, for its first reason. */
class JobStopTests {

	private final JobStop stop = new JobStop();

	@Test
	void theFirstReasonStaysUnlessADefectIsFound() {
		this.stop.stop(Cause.STOPPED, "first");
		this.stop.stop(Cause.REDIS_LOST, "second");
		assertThat(this.stop.ending()).isEqualTo(new Ending(Cause.STOPPED, "first"));
		this.stop.stop(Cause.INTERNAL_SERVER_ERROR, "defect");
		this.stop.stop(Cause.INTERNAL_SERVER_ERROR, "another");
		assertThat(this.stop.ending()).isEqualTo(new Ending(Cause.INTERNAL_SERVER_ERROR, "defect"));
	}

	@Test
	void aShutdownIsKnownEvenAfterAnotherStop() {
		this.stop.stop(Cause.REDIS_LOST, "before");
		assertThat(this.stop.isShuttingDown()).isFalse();
		this.stop.stop(Cause.SHUTTING_DOWN, "later");
		assertThat(this.stop.isShuttingDown()).isTrue();
	}

}
