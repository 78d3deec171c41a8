package io.pipeset.run;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.report.Account;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Outcome;
import io.pipeset.report.Results;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A job stops at the first rejected record beyond its limit. */
class ErrorLimitTests {

	private final Account account = new Account(Results.ERRORS, 10, false);

	private final JobStop stop = new JobStop();

	@Test
	void theFirstRejectedRecordBeyondTheLimitStopsTheJob() {
		ErrorLimit limit = new ErrorLimit(this.account, this.stop, 2L);
		this.account.count("SET", Outcome.REJECTED, 2);
		limit.run();
		assertThat(this.stop.isSet()).isFalse();
		this.account.count("SET", Outcome.REJECTED, 1);
		limit.run();
		assertThat(this.stop.ending())
			.isEqualTo(new Ending(Cause.STOPPED, "More records were rejected than maxErrors=2 allows"));
	}

	@Test
	void withoutALimitAnyNumberOfRejectedRecordsIsAllowed() {
		this.account.count("SET", Outcome.REJECTED, 1_000_000);
		new ErrorLimit(this.account, this.stop, null).run();
		assertThat(this.stop.isSet()).isFalse();
	}

}
