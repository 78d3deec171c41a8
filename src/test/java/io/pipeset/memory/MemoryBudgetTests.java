package io.pipeset.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.pipeset.OwnThread;
import io.pipeset.engine.lane.JobStop;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.report.Ending.Cause;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** All jobs together take no more memory than the budget, and no job waits forever. */
class MemoryBudgetTests {

	private static final long SMALL_REPORT = 16 << 10;

	private final MemoryBudget budget = new MemoryBudget(new MemoryLimits(1100, 100, 400, 600), Duration.ofMinutes(1));

	/** A budget whose jobs may wait for their body for 20 ms only while others wait. */
	private final MemoryBudget shortTimeout = new MemoryBudget(new MemoryLimits(1100, 100, 400, 600),
			Duration.ofMillis(20));

	private final JobStop stop = new JobStop();

	@Test
	void eachJobHasABaseWhateverTheOthersHold() {
		MemoryShare greedy = share();
		assertThat(greedy.tryReserve(300)).isTrue();
		assertThat(greedy.tryReserve(1)).isFalse();
		MemoryShare other = share();
		assertThat(other.tryReserve(200)).isTrue();
		assertThat(other.tryReserve(1)).isFalse();
		assertThat(share().tryReserve(100)).isTrue();
	}

	@Test
	void aJobTakesNoMoreThanItLeavesToOthers() {
		MemoryShare first = share();
		assertThat(first.tryReserve(100 + 200)).isTrue();
		assertThat(share().tryReserve(100 + 100)).isTrue();
		first.release(250);
		assertThat(first.tryReserve(100 + 101)).isFalse();
	}

	@Test
	void oneJobAtATimeHasTheExclusivePart() throws Exception {
		MemoryShare first = share();
		MemoryShare second = share();
		first.reserve(100 + 600);
		CompletableFuture<Void> waits = OwnThread.run(() -> second.reserve(100 + 500));
		await().until(() -> this.budget.waiting() == 1);
		assertThat(second.isScarce()).isTrue();
		first.release(599);
		assertThat(waits).isNotDone();
		first.release(1);
		waits.get(1, TimeUnit.MINUTES);
		assertThat(this.budget.waiting()).isZero();
		assertThat(first.isScarce()).isFalse();
	}

	@Test
	void theJobThatWaitedLongestGetsTheExclusivePart() throws Exception {
		MemoryShare first = share();
		first.reserve(100 + 600);
		List<CompletableFuture<Void>> waits = new ArrayList<>();
		List<MemoryShare> shares = List.of(share(), share(), share());
		for (MemoryShare share : shares) {
			waits.add(OwnThread.run(() -> share.reserve(100 + 600)));
			await().until(() -> this.budget.waiting() == waits.size());
		}
		first.close();
		for (int i = 0; i < shares.size(); i++) {
			waits.get(i).get(1, TimeUnit.MINUTES);
			assertThat(this.budget.waiting()).isEqualTo(shares.size() - 1 - i);
			shares.get(i).close();
		}
	}

	@Test
	void aJobWithSlabsInFlightWaitsForThemFirst() throws Exception {
		MemoryShare share = share();
		share.slabTaken();
		assertThat(share.tryReserve(300)).isTrue();
		AtomicBoolean sent = new AtomicBoolean();
		share.beforeWait(() -> sent.set(true));
		CompletableFuture<Void> waits = OwnThread.run(() -> share.reserve(100));
		await().until(() -> this.budget.waiting() == 1);
		assertThat(sent).isTrue();
		MemoryShare other = share();
		other.reserve(100 + 600);
		other.close();
		assertThat(waits).isNotDone();
		share.slabFreed();
		waits.get(1, TimeUnit.MINUTES);
	}

	@Test
	void aRequestThatNeverFitsIsRefusedByName() {
		MemoryShare share = share();
		assertThatExceptionOfType(MemoryLimitException.class).isThrownBy(() -> share.reserve(701))
			.withMessageContainingAll("takes 701 bytes", "pipeset.memory.budget=1100", "no more than 700");
		assertThat(this.budget.used()).isZero();
		assertThat(share.tryReserve(300)).isTrue();
	}

	@Test
	void aRefusedJobDoesNotKeepTheExclusivePart() throws Exception {
		MemoryShare refused = share();
		assertThat(refused.takeForReport(SMALL_REPORT + 10_000, 0)).isFalse();
		CompletableFuture<Void> waits = OwnThread.run(() -> share().reserve(700));
		waits.get(1, TimeUnit.MINUTES);
	}

	@Test
	void theExclusivePartIsNotKeptForAReportThatFitsTheSharedPart() throws Exception {
		MemoryShare first = share();
		first.reserve(650);
		assertThat(first.tryTakeForReport(SMALL_REPORT + 50)).isTrue();
		CompletableFuture<Void> waits = OwnThread.run(() -> share().reserve(700));
		await().until(() -> this.budget.waiting() == 1);
		first.release(650);
		waits.get(1, TimeUnit.MINUTES);
		first.close();
		assertThat(this.budget.used()).isEqualTo(700);
	}

	@Test
	void aJobWhoseBodyDoesNotComeDoesNotKeepTheExclusivePart() throws Exception {
		JobStop stopOfSlow = new JobStop();
		MemoryShare slow = this.shortTimeout.open(stopOfSlow);
		slow.reserve(700);
		MemoryShare other = this.shortTimeout.open(this.stop);
		CompletableFuture<Void> waits = OwnThread.run(() -> other.reserve(700));
		await().until(() -> this.shortTimeout.waiting() == 1);
		assertThat(stopOfSlow.isSet()).isFalse();
		slow.startBodyWait();
		await().until(stopOfSlow::isSet);
		assertThat(stopOfSlow.ending()).isNotNull();
		assertThat(stopOfSlow.ending().cause()).isEqualTo(Cause.STALLED);
		assertThat(stopOfSlow.ending().detail()).contains("body-idle-timeout", "pipeset.memory.budget=1100");
		slow.endBodyWait();
		slow.close();
		waits.get(1, TimeUnit.MINUTES);
		assertThat(this.stop.isSet()).isFalse();
	}

	@Test
	void aJobThatWaitsForItsOwnSlabsIsNotEndedForItsBody() throws Exception {
		MemoryShare only = this.shortTimeout.open(this.stop);
		only.reserve(600);
		waitForBody(only, 50);
		only.slabTaken();
		CompletableFuture<Void> waits = OwnThread.run(() -> only.reserve(101));
		await().until(() -> this.shortTimeout.waiting() == 1);
		Thread.sleep(100);
		only.release(1);
		only.slabFreed();
		waits.get(1, TimeUnit.MINUTES);
		assertThat(this.stop.isSet()).isFalse();
	}

	@Test
	void waitsForTheBodyBeforeOthersWaitedDoNotCount() throws Exception {
		JobStop stopOfSlow = new JobStop();
		MemoryShare slow = this.shortTimeout.open(stopOfSlow);
		slow.reserve(700);
		waitForBody(slow, 50);
		MemoryShare other = this.shortTimeout.open(this.stop);
		CompletableFuture<Void> waits = OwnThread.run(() -> other.reserve(700));
		await().until(() -> this.shortTimeout.waiting() == 1);
		Thread.sleep(100);
		slow.release(700);
		waits.get(1, TimeUnit.MINUTES);
		assertThat(stopOfSlow.isSet()).isFalse();
	}

	@Test
	void aJobThatWaitsForItsOwnSlabsDoesNotEndTheHolder() throws Exception {
		JobStop stopOfSlow = new JobStop();
		MemoryShare slow = this.shortTimeout.open(stopOfSlow);
		slow.reserve(700);
		MemoryShare other = this.shortTimeout.open(this.stop);
		other.reserve(300);
		other.slabTaken();
		CompletableFuture<Void> waits = OwnThread.run(() -> other.reserve(1));
		await().until(() -> this.shortTimeout.waiting() == 1);
		waitForBody(slow, 100);
		other.release(1);
		other.slabFreed();
		waits.get(1, TimeUnit.MINUTES);
		assertThat(stopOfSlow.isSet()).isFalse();
	}

	private static void waitForBody(MemoryShare share, long millis) throws InterruptedException {
		share.startBodyWait();
		Thread.sleep(millis);
		share.endBodyWait();
	}

	@Test
	void nothingIsTakenForAJobWhoseAnswerIsWritten() {
		MemoryShare share = share();
		share.close();
		assertThat(share.tryReserve(50)).isFalse();
		assertThat(share.tryTakeForReport(50)).isFalse();
		assertThat(this.budget.used()).isZero();
	}

	@Test
	void aStopEndsTheWait() throws Exception {
		share().reserve(700);
		MemoryShare share = share();
		CompletableFuture<Boolean> waits = OwnThread.supply(() -> {
			try {
				share.reserve(700);
				return false;
			}
			catch (MemoryLimitException ex) {
				return true;
			}
		});
		await().until(() -> this.budget.waiting() == 1);
		this.stop.stop(Cause.SHUTTING_DOWN, "enough");
		assertThat(waits.get(1, TimeUnit.MINUTES)).isTrue();
		assertThat(this.budget.waiting()).isZero();
	}

	@Test
	void aReportHoldsItsMemoryUntilItIsWritten() {
		MemoryShare share = share();
		assertThat(share.tryReserve(150)).isTrue();
		assertThat(share.tryTakeForReport(SMALL_REPORT + 100)).isTrue();
		share.endLoad();
		assertThat(this.budget.used()).isEqualTo(SMALL_REPORT + 100);
		assertThat(share().tryReserve(100 + 151)).isFalse();
		assertThat(share().tryReserve(100 + 150)).isTrue();
		share.close();
		share.close();
		assertThat(this.budget.used()).isEqualTo(250);
	}

	@Test
	void memoryThatIsHeldAlreadyCountsBeyondTheLimits() {
		MemoryShare share = share();
		share.correctReport(SMALL_REPORT + 500);
		assertThat(this.budget.used()).isEqualTo(SMALL_REPORT + 500);
		assertThat(share().tryReserve(101)).isFalse();
		share.correctReport(-500);
		assertThat(share().tryReserve(101)).isTrue();
	}

	@Test
	void aReportDoesNotKeepTheExclusivePartWithoutNeed() {
		MemoryShare share = share();
		assertThat(share.takeForReport(SMALL_REPORT + 300, Duration.ofMinutes(1).toNanos())).isTrue();
		share.endLoad();
		MemoryShare other = share();
		other.reserve(700);
		assertThat(share().takeForReport(SMALL_REPORT + 101, 1)).isFalse();
	}

	private MemoryShare share() {
		return this.budget.open(this.stop);
	}

}
