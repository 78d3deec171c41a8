package io.pipeset.engine.pipeline;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.report.Ending.Cause;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A permit goes to the thread that has waited longest, and a stop ends a wait. */
class ConnectionPermitsTests {

	private static final long HOUR = TimeUnit.HOURS.toNanos(1);

	private final ConnectionPermits permits = new ConnectionPermits(1, 1);

	@Test
	void aStopWakesAWaitingThread() throws Exception {
		assertThat(this.permits.tryAcquire()).isTrue();
		JobStop stop = new JobStop();
		CompletableFuture<Boolean> waiting = acquire(stop);
		awaitWaiting(1);
		stop.stop(Cause.STOPPED, "enough");
		assertThat(waiting.get(1, TimeUnit.MINUTES)).isFalse();
		assertThat(this.permits.waiting()).isZero();
		this.permits.release();
		assertThat(this.permits.taken()).isZero();
	}

	@Test
	void aStoppedJobDoesNotWait() throws Exception {
		assertThat(this.permits.tryAcquire()).isTrue();
		JobStop stop = new JobStop();
		stop.stop(Cause.STOPPED, "enough");
		assertThat(this.permits.acquire(false, HOUR, stop)).isFalse();
	}

	@Test
	void permitsAreGrantedInTheOrderOfArrival() throws Exception {
		assertThat(this.permits.tryAcquire()).isTrue();
		ConcurrentLinkedQueue<Integer> order = new ConcurrentLinkedQueue<>();
		List<CompletableFuture<Void>> waiting = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			int number = i;
			waiting.add(acquire(new JobStop()).thenAccept((granted) -> {
				order.add(number);
				this.permits.release();
			}));
			awaitWaiting(i + 1);
		}
		assertThat(this.permits.tryAcquire()).as("a permit while other threads wait").isFalse();
		this.permits.release();
		for (CompletableFuture<Void> permit : waiting) {
			permit.get(1, TimeUnit.MINUTES);
		}
		assertThat(order).containsExactly(0, 1, 2, 3, 4);
		assertThat(this.permits.taken()).isZero();
	}

	@Test
	void theFirstBatchOfAJobDoesNotWaitForOthers() throws Exception {
		assertThat(this.permits.tryAcquire()).isTrue();
		CompletableFuture<Boolean> later = acquire(new JobStop());
		awaitWaiting(1);
		assertThat(this.permits.acquire(true, HOUR, new JobStop())).isTrue();
		assertThat(this.permits.isScarce()).isTrue();
		CompletableFuture<Boolean> first = acquire(true, new JobStop());
		awaitWaiting(2);
		this.permits.release();
		assertThat(first.get(1, TimeUnit.MINUTES)).isTrue();
		assertThat(later).as("one that is not for a first batch").isNotDone();
		this.permits.release();
		assertThat(later).isNotDone();
		this.permits.release();
		assertThat(later.get(1, TimeUnit.MINUTES)).isTrue();
		this.permits.release();
		assertThat(this.permits.taken()).isZero();
		assertThat(this.permits.isScarce()).isFalse();
	}

	@Test
	void firstBatchesOvertakeALimitedNumberOfTimes() throws Exception {
		assertThat(this.permits.tryAcquire()).isTrue();
		assertThat(this.permits.acquire(true, HOUR, new JobStop())).isTrue();
		CompletableFuture<Boolean> later = acquire(new JobStop());
		awaitWaiting(1);
		for (int i = 0; i < 100 && !later.isDone(); i++) {
			CompletableFuture<Boolean> first = acquire(true, new JobStop());
			awaitWaiting(2);
			this.permits.release();
			if (this.permits.waiting() == 2) {
				// The other batch ends as well.
				this.permits.release();
			}
			CompletableFuture.anyOf(first, later).get(1, TimeUnit.MINUTES);
		}
		assertThat(later).as("a permit before 100 first batches that came later").isDone();
	}

	private CompletableFuture<Boolean> acquire(JobStop stop) {
		return acquire(false, stop);
	}

	private CompletableFuture<Boolean> acquire(boolean first, JobStop stop) {
		CompletableFuture<Boolean> acquired = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				acquired.complete(this.permits.acquire(first, HOUR, stop));
			}
			catch (InterruptedException ex) {
				acquired.completeExceptionally(ex);
			}
		});
		thread.setDaemon(true);
		thread.start();
		return acquired;
	}

	private void awaitWaiting(int count) {
		Awaitility.await().until(() -> this.permits.waiting() == count);
	}

}
