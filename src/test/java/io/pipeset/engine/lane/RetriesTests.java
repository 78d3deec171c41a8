package io.pipeset.engine.lane;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RetriesTests {

	@Test
	void lanesThatMeetTheSameFailureTakeOneRetry() {
		Retries retries = new Retries(1);
		long well = System.nanoTime();
		assertThat(retries.take(well)).isTrue();
		assertThat(retries.isLeft()).isFalse();
		assertThat(retries.take(well)).isTrue();
		assertThat(retries.take(System.nanoTime())).isFalse();
	}

	@Test
	void eachFurtherFailureTakesAnotherRetry() {
		Retries retries = new Retries(2);
		assertThat(retries.take(System.nanoTime())).isTrue();
		assertThat(retries.take(System.nanoTime())).isTrue();
		assertThat(retries.take(System.nanoTime())).isFalse();
	}

	@Test
	void withoutRetriesTheFirstFailureStopsTheJob() {
		assertThat(new Retries(0).take(System.nanoTime())).isFalse();
	}

}
