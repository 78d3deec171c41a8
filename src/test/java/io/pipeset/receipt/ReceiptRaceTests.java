package io.pipeset.receipt;

import java.time.Duration;
import java.util.List;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.LaneSettings;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.receipt.Receipts.Answer;
import io.pipeset.receipt.UsedSlots.UsedSlot;
import io.pipeset.redis.TestCluster;
import io.pipeset.report.Account;
import io.pipeset.report.Results;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.pipeset.receipt.ReceiptRig.bytes;
import static io.pipeset.receipt.ReceiptRig.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Concurrent steps of a receipt in any order leave no value without a receipt that
 * sweepers find.
 */
class ReceiptRaceTests {

	private static final TestCluster cluster = TestCluster.shared();

	private final ReceiptRig rig = ReceiptRig.shared();

	/** A list at the first master. */
	private final String queue = this.rig.list(0);

	private final byte[] list = bytes(this.queue);

	private final int slot = TestCluster.slot(this.queue);

	private final UsedSlots slots = new UsedSlots(this.rig.calls());

	private final String job = this.rig.job(this.list);

	private List<String> before = List.of();

	@BeforeEach
	void push() {
		this.rig.push(this.list, 600);
		this.before = this.rig.values(this.list);
	}

	@AfterEach
	void reset() {
		cluster.reset();
	}

	/** Its values would wait for the deadline, which may be a day away. */
	@Test
	void aNackIsNotLostByASweeperThatCheckedBeforeIt() {
		this.rig.receipts().open(this.job, "none", this.list, ReceiptRig.LONG);
		this.rig.pop(this.job, this.list, 600);
		this.rig.receipts().mark(this.job, Duration.ZERO);
		UsedSlot seen = this.slots.due().get(0);
		cluster.at(this.queue).set(this.queue, "no list");
		assertThat(this.rig.receipts().giveBack(this.job, "none")).isEqualTo(Answer.BLOCKED);
		this.slots.storeCheck(seen, ReceiptRig.LONG.toMillis());
		assertThat(this.rig.receipts().dueSlots()).hasSize(1);
	}

	/** A job with retries creates its receipt again if it got no reply. */
	@Test
	void aSlotWhoseReceiptIsCreatedAgainDuringACheckIsNotRemoved() {
		this.slots.mark(this.slot, this.job, Duration.ZERO);
		UsedSlot seen = this.slots.due().get(0);
		this.rig.receipts().open(this.job, "none", this.list, ReceiptRig.LONG);
		this.slots.storeCheck(seen, -1);
		assertThat(this.slots.due()).hasSize(1);
	}

	/**
	 * A master that was paused while it was replaced replies once with its former data.
	 */
	@Test
	void aSlotIsRemovedOnlyWhenItIsFoundEmptyTwice() {
		this.slots.mark(this.slot, this.job, Duration.ZERO);
		UsedSlot seen = this.slots.due().get(0);
		this.slots.storeCheck(seen, -1);
		this.slots.storeCheck(seen, -1);
		assertThat(this.slots.due()).isEmpty();
		assertThat(cluster.at(ReceiptRig.SLOTS).zcard(ReceiptRig.SLOTS)).isOne();
		lookNow(this.slot);
		UsedSlot again = this.slots.due().get(0);
		this.slots.mark(this.slot, this.job, ReceiptRig.LONG);
		this.slots.storeCheck(again, -1);
		assertThat(this.slots.due()).hasSize(1);
		this.slots.storeCheck(this.slots.due().get(0), -1);
		lookNow(this.slot);
		this.slots.storeCheck(this.slots.due().get(0), -1);
		assertThat(cluster.at(ReceiptRig.SLOTS).exists(ReceiptRig.SLOTS, "pipeset:{receipts}:marks")).isZero();
	}

	private static void lookNow(int slot) {
		cluster.at(ReceiptRig.SLOTS).zadd(ReceiptRig.SLOTS, 0, String.valueOf(slot));
	}

	/** The service gave up the connection, but Redis still reads from it. */
	@Test
	void aReceiptThatIsCreatedAgainTooLateLosesNoValue() {
		this.rig.receipts().open(this.job, "none", this.list, ReceiptRig.LONG);
		this.rig.pop(this.job, this.list, 600);
		giveSomeBack();
		this.rig.receipts().open(this.job, "none", this.list, ReceiptRig.LONG);
		assertThat(this.rig.receipts().giveBack(this.job, "none")).isEqualTo(Answer.DONE);
		assertThat(this.rig.values(this.list)).isEqualTo(this.before);
	}

	/** A new master may lack the last writes of the former one. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void valuesWithoutAReceiptGoBack(boolean resolves) {
		JobStop stop = new JobStop();
		PopReceipt receipt = receipt(stop);
		receipt.open();
		ReceiptKeys keys = ReceiptKeys.ofJob(this.job);
		cluster.at(this.queue).del(text(keys.index()), text(keys.receipt(this.job)));
		this.rig.pop(this.job, this.list, 2);
		Account account = new Account(Results.ERRORS, 10, true);
		account.taken().add("a", 1, 1);
		account.taken().add("b", 1, 1);
		if (resolves) {
			assertThat(receipt.resolve(List.of(), 2)).isFalse();
		}
		else {
			assertThat(receipt.handOver(account)).isNull();
		}
		assertThat(stop.isSet()).isTrue();
		this.rig.sweepUntil(() -> this.rig.values(this.list).equals(this.before));
	}

	/**
	 * Redis refuses a key that the script has emptied, because it may be at the other
	 * master.
	 */
	@Test
	void theLastValuesGoBackInASlotThatBeginsToMove() {
		this.rig.receipts().open(this.job, "none", this.list, ReceiptRig.LONG);
		this.rig.pop(this.job, this.list, 500);
		giveSomeBack();
		cluster.begin(this.slot, cluster.master(0), cluster.master(1));
		assertThat(this.rig.receipts().giveBack(this.job, "none")).isEqualTo(Answer.DONE);
		assertThat(this.rig.values(this.list)).isEqualTo(this.before);
	}

	private PopReceipt receipt(JobStop stop) {
		LaneSettings settings = new LaneSettings(1000, FlushPolicy.close(), 1, Duration.ofSeconds(30), 0, 0,
				Duration.ofSeconds(1), false, true);
		return new PopReceipt(this.rig.receipts(), this.job, new ReliablePops("none", this.queue, 2, ReceiptRig.LONG),
				settings, stop);
	}

	/** Gives some values back, like an instance that dies then. */
	private void giveSomeBack() {
		ReceiptKeys keys = ReceiptKeys.ofJob(this.job);
		this.rig.calls()
			.evalRepeatable(keys.slot(), ReceiptScripts.GIVE_BACK, keys.all(this.job, this.list),
					ReceiptScripts.arguments(this.job, 200, "now"));
	}

}
