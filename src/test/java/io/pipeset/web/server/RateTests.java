package io.pipeset.web.server;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A caller must read 1 MB of a response in each period of five seconds. */
class RateTests {

	private final Rate readRate = new Rate(Duration.ofSeconds(5));

	@Test
	void anAnswerHasAPeriodBeforeItIsSlow() {
		assertThat(isSlow(0, 0)).isFalse();
		assertThat(isSlow(4, 0)).isFalse();
		assertThat(isSlow(5, 0)).isTrue();
		assertThat(isSlow(9, 0)).isTrue();
	}

	@Test
	void bytesOfOnePeriodDoNotCountForTheNext() {
		assertThat(isSlow(0, 4_000_000)).isFalse();
		assertThat(isSlow(6, 4_000_000)).isTrue();
		assertThat(isSlow(11, 5_500_000)).isFalse();
		assertThat(isSlow(17, 6_000_000)).isTrue();
	}

	@Test
	void aSteadyReaderIsNotSlowHoweverLongItTakes() {
		for (int second = 0; second < 3600; second++) {
			assertThat(isSlow(second, second * 210_000L)).isFalse();
		}
	}

	private boolean isSlow(int second, long bytes) {
		return this.readRate.update(TimeUnit.SECONDS.toNanos(second), bytes);
	}

}
