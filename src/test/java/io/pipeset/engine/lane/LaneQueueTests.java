package io.pipeset.engine.lane;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.pipeset.OwnThread;
import io.pipeset.engine.slab.Slab;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A lane gets each slab once, in the order in which the slabs were filled. */
class LaneQueueTests {

	/** The steps in a sequence. The test tries every sequence of three kinds of steps. */
	private static final int STEPS = 11;

	private static final Slab[] SLABS = slabs(STEPS + 1);

	@Test
	void aFilledSlabComesBeforeTheOneThatIsLentAfterIt() throws Exception {
		LaneQueue queue = new LaneQueue();
		queue.lend(SLABS[0]);
		assertThat(queue.poll(0, false)).as("nothing is filled").isNull();
		// The reading thread continues between two polls of the lane.
		assertThat(queue.reclaim()).isTrue();
		queue.addFilled(SLABS[0]);
		queue.lend(SLABS[1]);
		assertThat(queue.borrow()).as("a filled slab comes first").isNull();
		assertThat(queue.poll(0, false)).isSameAs(SLABS[0]);
		assertThat(queue.borrow()).isSameAs(SLABS[1]);
	}

	@Test
	void aBorrowedSlabCannotBeReclaimed() {
		LaneQueue queue = new LaneQueue();
		queue.lend(SLABS[0]);
		assertThat(queue.borrow()).isSameAs(SLABS[0]);
		assertThat(queue.reclaim()).isFalse();
		queue.lend(SLABS[1]);
		assertThat(queue.reclaim()).isTrue();
		assertThat(queue.borrow()).isNull();
	}

	@Test
	void noSequenceOfStepsReordersOrLosesASlab() throws Exception {
		int schedules = (int) Math.pow(3, STEPS);
		for (int schedule = 0; schedule < schedules; schedule++) {
			Model model = new Model();
			int rest = schedule;
			for (int step = 0; step < STEPS; step++) {
				model.step(rest % 3);
				rest /= 3;
			}
			model.end();
			if (!model.received.equals(List.of(SLABS).subList(0, model.filled))) {
				assertThat(model.received).as("schedule %s of %s steps", schedule, STEPS)
					.containsExactly(List.of(SLABS).subList(0, model.filled).toArray(Slab[]::new));
			}
		}
	}

	@Test
	void aPollEndsWithAnySlabOrAPauseAfterOneIsLent() throws Exception {
		LaneQueue queue = new LaneQueue();
		CompletableFuture<@Nullable Slab> polled = poll(queue, TimeUnit.MINUTES.toNanos(1));
		queue.addDone(SLABS[0]);
		assertThat(polled.get(1, TimeUnit.MINUTES)).isSameAs(SLABS[0]);
		polled = poll(queue, TimeUnit.MINUTES.toNanos(1));
		queue.addFilled(SLABS[1]);
		assertThat(polled.get(1, TimeUnit.MINUTES)).isSameAs(SLABS[1]);
		polled = poll(queue, TimeUnit.HOURS.toNanos(1));
		queue.lend(SLABS[2]);
		assertThat(polled.get(1, TimeUnit.MINUTES)).isNull();
		assertThat(queue.borrow()).isSameAs(SLABS[2]);
	}

	private static CompletableFuture<@Nullable Slab> poll(LaneQueue queue, long nanos) {
		return OwnThread.supply(() -> {
			try {
				return queue.poll(nanos, true);
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	private static Slab[] slabs(int count) {
		Slab[] slabs = new Slab[count];
		for (int i = 0; i < count; i++) {
			slabs[i] = new Slab();
		}
		return slabs;
	}

	/** A reading thread and a lane that take their steps one after the other. */
	private static final class Model {

		private final LaneQueue queue = new LaneQueue();

		private final List<Slab> received = new ArrayList<>();

		private int filled;

		private boolean lent;

		private boolean laneRuns;

		/** Whether the lane's last poll found no filled slab. */
		private boolean laneBorrows;

		private boolean laneLeaves;

		void step(int kind) throws InterruptedException {
			if (kind == 0) {
				lane();
			}
			else if (this.lent) {
				reclaim();
			}
			else if (kind == 1) {
				starts(this.queue.addFilled(SLABS[this.filled++]));
			}
			else {
				starts(this.queue.lend(SLABS[this.filled]));
				this.lent = true;
			}
		}

		void end() throws InterruptedException {
			if (this.lent) {
				reclaim();
			}
			while (this.laneRuns) {
				lane();
			}
		}

		private void starts(boolean begins) {
			if (begins == this.laneRuns) {
				throw new AssertionError("the lane " + ((begins) ? "was started twice" : "was not started"));
			}
			this.laneRuns = true;
		}

		private void reclaim() {
			this.lent = false;
			this.filled += (this.queue.reclaim()) ? 0 : 1;
		}

		private void lane() throws InterruptedException {
			if (!this.laneRuns) {
				return;
			}
			if (this.laneLeaves) {
				this.laneRuns = !this.queue.endIfEmpty();
				this.laneLeaves = false;
			}
			else {
				Slab slab = (this.laneBorrows) ? this.queue.borrow() : this.queue.poll(0, false);
				this.laneLeaves = slab == null && this.laneBorrows;
				this.laneBorrows = slab == null && !this.laneBorrows;
				if (slab != null) {
					this.received.add(slab);
				}
			}
		}

	}

}
