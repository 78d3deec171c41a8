package io.pipeset.tuning;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Contenders run round-robin, and no run begins after the budget. */
class RoundsTests {

	private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 1);

	private final List<String> ran = new ArrayList<>();

	private final List<Runnable> contenders = List.of(contender("a"), contender("b"), contender("c"));

	@Test
	void contendersRunRoundRobinAndEachRoundBeginsWithAnotherOne() {
		new Rounds(Duration.ofSeconds(100), this.clock::get).run(3, this.contenders);
		assertThat(this.ran).containsExactly("a", "b", "c", "b", "c", "a", "c", "a", "b");
	}

	@Test
	void noRunBeginsAfterTheBudgetAndARunThatHasBegunCompletes() {
		new Rounds(Duration.ofMillis(3_500), this.clock::get).run(2, this.contenders);
		assertThat(this.ran).containsExactly("a", "b", "c", "b");
	}

	@Test
	void timeBeforeTheFirstRoundCountsTowardsTheBudget() {
		Rounds rounds = new Rounds(Duration.ofSeconds(2), this.clock::get);
		this.clock.addAndGet(Duration.ofSeconds(2).toNanos());
		rounds.run(2, this.contenders);
		assertThat(this.ran).isEmpty();
	}

	private Runnable contender(String name) {
		return () -> {
			this.ran.add(name);
			this.clock.addAndGet(Duration.ofSeconds(1).toNanos());
		};
	}

}
