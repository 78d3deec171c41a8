package io.pipeset.tuning;

import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Lets all that is to be measured take turns, so that a noisy neighbour meets all alike,
 * and begins no further run once the budget is used up.
 */
final class Rounds {

	private final LongSupplier clock;

	private final long end;

	/**
	 * Begins to count the time.
	 * @param budget the time after which no further run begins
	 * @param clock nanoseconds, as {@link System#nanoTime()} gives them
	 */
	Rounds(Duration budget, LongSupplier clock) {
		this.clock = clock;
		this.end = clock.getAsLong() + budget.toNanos();
	}

	/** Whether a further run may begin. */
	boolean goOn() {
		return this.end - this.clock.getAsLong() > 0;
	}

	/**
	 * Runs each of them so many times. Each round begins with another one, so that none
	 * always comes first.
	 * @param contenders what is to be run, in this order
	 */
	void run(int runs, List<? extends Runnable> contenders) {
		int all = contenders.size();
		for (int round = 0; round < runs; round++) {
			int first = round * all / runs;
			for (int i = 0; i < all && goOn(); i++) {
				contenders.get((first + i) % all).run();
			}
		}
	}

}
