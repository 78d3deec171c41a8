package io.pipeset.memory;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pipeset.request.JobLimits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The limits are derived from the heap and the number of jobs, and a budget that does not
 * fit fails the start.
 */
class MemoryLimitsTests {

	@ParameterizedTest
	@CsvSource({ "256MB, 96MB, 64", "128MB, 128MB, 64", "96MB, 96MB, 64", "4GB, 4GB, 64", "1GB, 96MB, 64",
			"768MB, 768MB, 1000" })
	void theDefaultsFitTheMachine(DataSize heap, DataSize direct, int jobs) {
		MemoryLimits limits = MemoryLimits.of(null, jobs, heap.toBytes(), direct.toBytes());
		assertThat(limits.budget()).isLessThan(heap.toBytes() / 2).isLessThan(direct.toBytes());
		assertThat(limits.base() * jobs + limits.shared() + limits.exclusive()).isLessThanOrEqualTo(limits.budget());
	}

	@Test
	void aBudgetThatDoesNotFitIsRefusedByName() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> MemoryLimits.of(DataSize.ofMegabytes(200), 64, 256 << 20, 1 << 30))
			.withMessageContainingAll("pipeset.memory.budget", "201326592", "209715200");
		assertThatIllegalArgumentException().isThrownBy(() -> MemoryLimits.of(null, 10_000, 256 << 20, 256 << 20))
			.withMessageContainingAll("pipeset.limits.max-running-jobs=10000", "pipeset.memory.budget");
	}

	@Test
	void aStartWithoutEnoughMemoryFailsWithAShortMessage() {
		new ApplicationContextRunner().withPropertyValues("pipeset.memory.budget=1MB")
			.withUserConfiguration(Budget.class)
			.run((context) -> {
				FailureAnalysis analysis = new UnfitMemoryFailureAnalyzer().analyze(context.getStartupFailure());
				assertThat(analysis).isNotNull();
				assertThat(analysis.getDescription()).contains("pipeset.memory.budget", "8388608", "1048576");
				assertThat(analysis.getAction()).contains("-Xmx");
			});
	}

	/** A budget with its properties. */
	@EnableConfigurationProperties({ JobLimits.class, MemoryProperties.class })
	static class Budget {

		@Bean
		MemoryBudget budget(MemoryProperties properties, JobLimits limits) {
			return new MemoryBudget(properties, limits.maxRunningJobs(), limits.bodyIdleTimeout(),
					new SimpleMeterRegistry());
		}

	}

}
