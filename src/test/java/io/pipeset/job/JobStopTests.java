package io.pipeset.job;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A job is stopped once, for its first reason, and whoever waits is woken once. */
class JobStopTests {

	private final JobStop stop = new JobStop();

	@Test
	void theFirstReasonStaysUnlessADefectIsFound() {
		this.stop.because(Cause.STOPPED, "first");
		this.stop.because(Cause.REDIS_LOST, "second");
		assertThat(this.stop.ending()).isEqualTo(new Ending(Cause.STOPPED, "first"));
		this.stop.because(Cause.INTERNAL_SERVER_ERROR, "defect");
		this.stop.because(Cause.INTERNAL_SERVER_ERROR, "another");
		assertThat(this.stop.ending()).isEqualTo(new Ending(Cause.INTERNAL_SERVER_ERROR, "defect"));
	}

	@Test
	void aShutdownIsKnownWhateverTheJobWasStoppedForBefore() {
		this.stop.because(Cause.REDIS_LOST, "before");
		assertThat(this.stop.isShuttingDown()).isFalse();
		this.stop.because(Cause.SHUTTING_DOWN, "later");
		assertThat(this.stop.isShuttingDown()).isTrue();
	}

	@Test
	void aStopThatIsRepeatedStartsOneThreadToEndAnUpload() {
		AtomicInteger threads = new AtomicInteger();
		Executor executor = (task) -> threads.incrementAndGet();
		JobContext context = new JobContext(null, null, null, this.stop, null, null, null, null, null, executor, null,
				null);
		StoppedUpload upload = new StoppedUpload(context, (idle) -> {
		});
		for (int slab = 0; slab < 1000; slab++) {
			this.stop.because(Cause.STOPPED, "More records were rejected than maxErrors=0 allows");
		}
		this.stop.because(Cause.INTERNAL_SERVER_ERROR, "defect");
		upload.end();
		assertThat(threads).hasValue(1);
		assertThat(this.stop.await(Duration.ofMinutes(1).toNanos())).isTrue();
	}

}
