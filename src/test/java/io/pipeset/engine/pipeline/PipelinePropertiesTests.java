package io.pipeset.engine.pipeline;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;

/** The smallest settings work as well. */
class PipelinePropertiesTests {

	@Test
	void anEmptyWindowIsNeverHalfFull() {
		PipelineProperties smallest = new PipelineProperties(1, 1, DataSize.ofKilobytes(64), Duration.ofSeconds(1),
				false);
		assertThat(smallest.isHalf(0, 0)).isFalse();
		assertThat(smallest.isHalf(1, 10)).isTrue();
	}

	@Test
	void aDividedWindowNeverFallsBelowTheMinimum() {
		PipelineProperties smallest = new PipelineProperties(1, 1, DataSize.ofKilobytes(64), Duration.ofSeconds(1),
				false);
		assertThat(smallest.dividedBy(1000)).isEqualTo(smallest);
	}

}
