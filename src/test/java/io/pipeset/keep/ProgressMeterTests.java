package io.pipeset.keep;

import java.time.Duration;

import io.pipeset.report.Progress;
import io.pipeset.report.Progress.Tally;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The current rate is that of the last second. The time left follows from the last ten
 * seconds.
 */
class ProgressMeterTests {

	private ProgressMeter meter = new ProgressMeter(0);

	@Test
	void beforeTheFirstSampleAllRatesAreTheAverage() {
		Progress progress = progress(500, 100);
		assertThat(progress.perSecond()).isEqualTo(200);
		assertThat(progress.averagePerSecond()).isEqualTo(200);
		assertThat(progress.share()).isEqualTo(0.1);
		assertThat(progress.leftMillis()).isEqualTo(4500);
		assertThat(progress.elapsedMillis()).isEqualTo(500);
	}

	@Test
	void aNewJobHasTheRateSinceItsBeginning() {
		sample(100, 300);
		Progress progress = progress(200, 300);
		assertThat(progress.perSecond()).isEqualTo(1500);
		assertThat(progress.leftMillis()).isEqualTo(467);
	}

	@Test
	void theRateOfAFasterJobRises() {
		for (int quarter = 1; quarter <= 80; quarter++) {
			sample(quarter * 250L, quarter);
		}
		for (int quarter = 1; quarter <= 4; quarter++) {
			sample(20_000 + quarter * 250L, 80 + quarter * 10);
		}
		Progress progress = progress(21_000, 120);
		assertThat(progress.perSecond()).isEqualTo(40);
		assertThat(progress.averagePerSecond()).isEqualTo(Math.round(120 / 21.0));
		// 36 + 40 in the last ten seconds
		assertThat(progress.leftMillis()).isEqualTo(Math.round(880 / 76.0 * 10_000));
	}

	@Test
	void whatAnEarlierProcessDidIsNoWorkOfAResumedJob() {
		this.meter = new ProgressMeter(400);
		Progress skipping = progress(500, 300);
		assertThat(skipping.perSecond()).isZero();
		assertThat(skipping.averagePerSecond()).isZero();
		Progress running = progress(1_000, 500);
		assertThat(running.done()).isEqualTo(500);
		assertThat(running.perSecond()).isEqualTo(100);
		assertThat(running.averagePerSecond()).isEqualTo(100);
	}

	@Test
	void aJobWithoutProgressHasNoTimeLeft() {
		for (int quarter = 1; quarter <= 60; quarter++) {
			sample(quarter * 250L, 10);
		}
		Progress progress = progress(15_000, 10);
		assertThat(progress.perSecond()).isZero();
		assertThat(progress.leftMillis()).isNull();
	}

	@Test
	void aJobThatIsDoneHasNothingLeft() {
		assertThat(progress(100, 1000).leftMillis()).isZero();
	}

	@Test
	void withoutATotalThereIsNoShareAndNoTimeLeft() {
		this.meter.sample(Tally.of(5, null), Duration.ofSeconds(1).toNanos());
		Progress progress = this.meter.progress(Tally.of(10, null), Duration.ofSeconds(2).toNanos());
		assertThat(progress.total()).isNull();
		assertThat(progress.share()).isNull();
		assertThat(progress.leftMillis()).isNull();
		assertThat(progress.perSecond()).isEqualTo(5);
	}

	private void sample(long millis, long done) {
		this.meter.sample(Tally.of(done, 1000L), Duration.ofMillis(millis).toNanos());
	}

	private Progress progress(long millis, long done) {
		return this.meter.progress(Tally.of(done, 1000L), Duration.ofMillis(millis).toNanos());
	}

}
