package io.pipeset.receipt;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.pipeset.OwnThread;
import io.pipeset.engine.lane.LaneContext;
import io.pipeset.receipt.Receipts.Answer;
import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Outcome;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.pipeset.receipt.ReceiptRig.bytes;
import static io.pipeset.receipt.ReceiptRig.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A receipt follows its slot, and no pop runs twice or is lost while the slot moves. */
class MovedReceiptsTests {

	private static final TestCluster cluster = TestCluster.shared();

	private final ReceiptRig rig = ReceiptRig.shared();

	/** A list at the first master. */
	private final String queue = this.rig.list(0);

	private final int slot = TestCluster.slot(this.queue);

	private final TestRedis from = cluster.master(0);

	private final TestRedis to = cluster.master(1);

	@AfterEach
	void reset() {
		cluster.reset();
	}

	@Test
	void aMigratingSlotDelaysNoOther() {
		byte[] list = bytes(this.queue);
		byte[] other = bytes(this.rig.list(0));
		this.rig.expired(list);
		this.rig.expired(other);
		cluster.begin(this.slot, this.from, this.to);
		cluster.migrate(this.from, this.to, this.queue);
		this.rig.sweepUntil(() -> this.rig.values(other).size() == 2);
		cluster.move(this.slot, this.to);
		endMove();
		this.rig.sweepUntil(() -> this.rig.values(list).size() == 2);
		assertThat(ReceiptRig.receiptKeys()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aReceiptWhoseSlotHasMovedIsFoundAtItsNewMaster(boolean acknowledged) {
		byte[] list = bytes(this.queue);
		this.rig.push(list, 3);
		String job = this.rig.opened(list);
		this.rig.pop(job, list, 2);
		assertThat(this.rig.receipts().handOver(job, ReceiptRig.LONG, 2)).isPresent();
		cluster.move(this.slot, this.to);
		assertThat((acknowledged) ? this.rig.receipts().acknowledge(job, "none")
				: this.rig.receipts().giveBack(job, "none"))
			.isEqualTo(Answer.DONE);
		assertThat(this.to.client().llen(this.queue)).isEqualTo((acknowledged) ? 1 : 3);
		assertThat(ReceiptRig.receiptKeys()).isEmpty();
	}

	@Test
	void aReceiptThatHasMigratedAlreadyIsFound() {
		byte[] list = bytes(this.queue);
		this.rig.push(list, 3);
		String job = this.rig.opened(list);
		this.rig.pop(job, list, 2);
		this.rig.receipts().handOver(job, ReceiptRig.LONG, 2);
		cluster.begin(this.slot, this.from, this.to);
		cluster.migrate(this.from, this.to,
				this.from.client().clusterGetKeysInSlot(this.slot, 10).toArray(String[]::new));
		long asked = ReceiptRig.errors(this.from, "ASK");
		assertThat(this.rig.receipts().acknowledge(job, "none")).isEqualTo(Answer.DONE);
		assertThat(ReceiptRig.errors(this.from, "ASK")).isGreaterThan(asked);
		cluster.end(this.slot, this.from, this.to);
		assertThat(this.rig.values(list)).containsExactly("v2");
		assertThat(ReceiptRig.receiptKeys()).isEmpty();
	}

	@Test
	void aReceiptWhoseKeysAreAtBothMastersWaitsUntilTheyAreAtOne() throws Exception {
		byte[] list = bytes(this.queue);
		this.rig.push(list, 3);
		String job = this.rig.opened(list);
		this.rig.pop(job, list, 2);
		this.rig.receipts().handOver(job, ReceiptRig.LONG, 2);
		cluster.begin(this.slot, this.from, this.to);
		cluster.migrate(this.from, this.to, text(ReceiptKeys.ofSlot(this.slot).index()));
		long waited = ReceiptRig.errors(this.from, "TRYAGAIN");
		CompletableFuture<Answer> answer = OwnThread.supply(() -> this.rig.receipts().giveBack(job, "none"));
		await().until(() -> ReceiptRig.errors(this.from, "TRYAGAIN") > waited);
		endMove();
		assertThat(answer.get(1, TimeUnit.MINUTES)).isEqualTo(Answer.DONE);
		assertThat(this.rig.values(list)).containsExactly("v2", "v1", "v0");
	}

	/** The receipt is created at one master, and the pops run at the other. */
	@ParameterizedTest
	@ValueSource(ints = { 3, 300 })
	void popsOfASlotThatMovesAfterItsReceiptRunOnce(int count) {
		byte[] list = bytes(this.queue);
		this.rig.push(list, 400);
		String job = this.rig.opened(list);
		cluster.move(this.slot, this.to);
		long redirected = ReceiptRig.errors(this.from, "MOVED");
		LaneContext context = this.rig.popInLanes(this.queue, job, count);
		assertThat(ReceiptRig.errors(this.from, "MOVED")).isGreaterThan(redirected);
		assertThat(context.account().total(Outcome.APPLIED)).isEqualTo(count);
		assertThat(this.rig.receipts().handOver(job, ReceiptRig.LONG, count)).isPresent();
		assertThat(this.to.client().llen(this.queue)).isEqualTo(400 - count);
		assertThat(this.rig.receipts().giveBack(job, "none")).isEqualTo(Answer.DONE);
		assertThat(this.rig.values(list)).isEqualTo(IntStream.range(0, 400).mapToObj((i) -> "v" + (399 - i)).toList());
	}

	@Test
	void popsOfAMigratingSlotWaitAndRunOnce() throws Exception {
		byte[] list = bytes(this.queue);
		this.rig.push(list, 40);
		String job = this.rig.opened(list);
		cluster.begin(this.slot, this.from, this.to);
		cluster.migrate(this.from, this.to, this.queue);
		long asked = ReceiptRig.errors(this.from, "ASK");
		CompletableFuture<LaneContext> popped = OwnThread.supply(() -> this.rig.popInLanes(this.queue, job, 50));
		await().until(() -> ReceiptRig.errors(this.from, "ASK") > asked);
		endMove();
		LaneContext context = popped.get(1, TimeUnit.MINUTES);
		assertThat(context.account().total(Outcome.APPLIED)).isEqualTo(40);
		assertThat(context.account().total(Outcome.NOOP)).isEqualTo(10);
		assertThat(this.rig.receipts().handOver(job, ReceiptRig.LONG, 40)).isPresent();
		assertThat(this.rig.receipts().giveBack(job, "none")).isEqualTo(Answer.DONE);
		assertThat(this.rig.values(list)).isEqualTo(IntStream.range(0, 40).mapToObj((i) -> "v" + (39 - i)).toList());
	}

	/**
	 * The list ends while its slot migrates, so that missing values may be at the other
	 * master.
	 */
	@Test
	void popsOfAnEmptyListInAMigratingSlotFindThatItIsEmpty() throws Exception {
		byte[] list = bytes(this.queue);
		this.rig.push(list, 20);
		String job = this.rig.opened(list);
		this.rig.pop(job, list, 1);
		cluster.begin(this.slot, this.from, this.to);
		CompletableFuture<LaneContext> popped = OwnThread.supply(() -> this.rig.popInLanes(this.queue, job, 50));
		await().until(() -> !this.from.client().clusterGetKeysInSlot(this.slot, 10).contains(this.queue));
		endMove();
		LaneContext context = popped.get(1, TimeUnit.MINUTES);
		assertThat(context.account().total(Outcome.APPLIED)).isEqualTo(19);
		assertThat(context.account().total(Outcome.NOOP)).isEqualTo(31);
	}

	/** Moves the remaining keys, and ends the migration. */
	private void endMove() {
		List<String> left = this.from.client().clusterGetKeysInSlot(this.slot, 100);
		if (!left.isEmpty()) {
			cluster.migrate(this.from, this.to, left.toArray(String[]::new));
		}
		cluster.end(this.slot, this.from, this.to);
	}

}
