package io.pipeset.report;

import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Timings have the right times of batches. */
class JobClockTests {

	private final JobClock clock = new JobClock();

	@Test
	void aJobWithoutABatchHasNoTimesOfBatches() {
		assertThat(this.clock.timings().batches()).isEqualTo(new Timings.Batches(0, 0, 0, 0));
	}

	@Test
	void aBatchHasBegunBeforeAndAfterItsEnd() {
		assertThat(this.clock.hasBegunBatch()).isFalse();
		this.clock.beginBatch();
		assertThat(this.clock.hasBegunBatch()).isTrue();
		this.clock.endBatch(1);
		assertThat(this.clock.hasBegunBatch()).isTrue();
	}

	@Test
	void theTimeOfASingleBatchIsExact() {
		batch(8_159);
		assertThat(this.clock.timings().batches()).isEqualTo(new Timings.Batches(1, 8.159, 8.159, 8.159));
	}

	@Test
	void theTimesOfSeveralBatchesAreExactToAHundredth() {
		for (int micros = 1; micros <= 100_000; micros++) {
			batch(micros);
		}
		Timings.Batches batches = this.clock.timings().batches();
		assertThat(batches.count()).isEqualTo(100_000);
		assertThat(batches.p50Millis()).isCloseTo(50, within(0.5));
		assertThat(batches.p99Millis()).isCloseTo(99, within(0.99));
		assertThat(batches.maxMillis()).isCloseTo(100, within(1.0));
	}

	@Test
	void theFirstOfSeveralBatchesCounts() {
		batch(500_000);
		batch(1);
		batch(1);
		Timings.Batches batches = this.clock.timings().batches();
		assertThat(batches.p50Millis()).isEqualTo(0.001);
		assertThat(batches.maxMillis()).isCloseTo(500, within(5.0));
	}

	private void batch(long micros) {
		this.clock.beginBatch();
		this.clock.endBatch(TimeUnit.MICROSECONDS.toNanos(micros));
	}

}
