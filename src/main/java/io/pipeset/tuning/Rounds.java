package io.pipeset.tuning;

import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Runs all contenders round-robin, so that noise on the machine affects all of them
 * alike. It begins no further run after the budget is used up.
 */
final class Rounds {

	private final LongSupplier clock;

	private final long deadline;

	/**
	 * Starts the budget.
	 * @param budget the time after which no further run begins
	 * @param clock nanoseconds, like {@link System#nanoTime()}
	 */
	Rounds(Duration budget, LongSupplier clock) {
		this.clock = clock;
		this.deadline = clock.getAsLong() + budget.toNanos();
	}

	/** Whether another run may begin. */
	boolean hasTimeLeft() {
		return this.deadline - this.clock.getAsLong() > 0;
	}

	/**
	 * Runs each contender several times. Each round begins with another contender, so
	 * that none is always the first.
	 * @param runs the runs of each contender
	 * @param contenders the contenders in the order of the first round
	 */
	void run(int runs, List<? extends Runnable> contenders) {
		int all = contenders.size();
		for (int round = 0; round < runs; round++) {
			int first = round * all / runs;
			for (int i = 0; i < all && hasTimeLeft(); i++) {
				contenders.get((first + i) % all).run();
			}
		}
	}

}
