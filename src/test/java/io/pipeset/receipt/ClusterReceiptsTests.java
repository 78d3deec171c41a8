package io.pipeset.receipt;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.ZAddArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.receipt.Receipts.Answer;
import io.pipeset.receipt.UsedSlots.UsedSlot;
import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static io.pipeset.receipt.ReceiptRig.bytes;
import static io.pipeset.receipt.ReceiptRig.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * In a cluster the receipt of a list with any key is found by its job's id, and by
 * sweepers.
 */
class ClusterReceiptsTests {

	private static final TestCluster cluster = TestCluster.shared();

	private final ReceiptRig rig = ReceiptRig.shared();

	/** A list at the first master. */
	private final String queue = this.rig.list(0);

	private final int slot = TestCluster.slot(this.queue);

	@AfterEach
	void reset() {
		cluster.reset();
	}

	static Stream<byte[]> lists() {
		return Stream.concat(Stream.of("queue", "a{b}c", "{}", "{", "}", "{}a{b}", "a}b{c", "").map(ReceiptRig::bytes),
				Stream.of(new byte[] { 0, '{', (byte) 0xff, '\r', '\n', '}', 1 }, new byte[] { (byte) 0x80 }));
	}

	@ParameterizedTest
	@MethodSource("lists")
	void theReceiptOfAnyListCanBeAcknowledged(byte[] list) {
		this.rig.push(list, 3);
		String job = this.rig.opened(list);
		this.rig.pop(job, list, 2);
		assertThat(this.rig.receipts().acknowledge(job, "none")).isEqualTo(Answer.PENDING);
		assertThat(this.rig.receipts().found(job, 1)).hasSize(1).first().isEqualTo(bytes("v1"));
		assertThat(this.rig.receipts().found(job, 2)).isEmpty();
		assertThat(this.rig.receipts().found(job, 3)).isNull();
		assertThat(this.rig.receipts().handOver(job, ReceiptRig.LONG, 2)).isPresent();
		assertThat(this.rig.receipts().acknowledge(job, "none")).isEqualTo(Answer.DONE);
		assertThat(this.rig.receipts().acknowledge(job, "none")).isEqualTo(Answer.GONE);
		assertThat(this.rig.receipts().giveBack(job, "none")).isEqualTo(Answer.GONE);
		assertThat(this.rig.values(list)).containsExactly("v2");
		assertThat(ReceiptRig.receiptKeys()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("lists")
	void theValuesOfAnyListGoBack(byte[] list) {
		this.rig.push(list, 3);
		String job = this.rig.opened(list);
		this.rig.pop(job, list, 3);
		this.rig.receipts().handOver(job, ReceiptRig.LONG, 3);
		assertThat(this.rig.receipts().giveBack(job, "none")).isEqualTo(Answer.DONE);
		assertThat(this.rig.receipts().giveBack(job, "none")).isEqualTo(Answer.GONE);
		assertThat(this.rig.values(list)).containsExactly("v2", "v1", "v0");
		assertThat(ReceiptRig.receiptKeys()).isEmpty();
	}

	@Test
	void aJobThatPoppedNothingLeavesNothing() {
		String job = this.rig.opened(bytes(this.queue));
		this.rig.receipts().drop(job);
		assertThat(ReceiptRig.receiptKeys()).isEmpty();
		assertThat(this.rig.receipts().giveBack(job, "none")).isEqualTo(Answer.GONE);
	}

	/** Otherwise no sweeper would find the second receipt. */
	@Test
	void aSlotThatGetsAReceiptDuringACheckIsNotRemoved() {
		byte[] list = bytes(this.queue);
		UsedSlots slots = new UsedSlots(this.rig.calls());
		slots.mark(this.slot, "first", Duration.ZERO);
		UsedSlot seen = slots.due().get(0);
		String job = this.rig.job(list);
		this.rig.receipts().open(job, "none", list, ReceiptRig.LONG);
		slots.storeCheck(seen, -1);
		assertThat(slots.due()).singleElement().matches((use) -> use.lastMark().startsWith(job));
		assertThat(this.rig.receipts().dueJobs(slots.due().get(0), 10)).isEmpty();
		assertThat(slots.due()).isEmpty();
		assertThat(cluster.at(ReceiptRig.SLOTS).zcard(ReceiptRig.SLOTS)).isOne();
		this.rig.expire(job);
		assertThat(this.rig.receipts().dueJobs(slots.due().get(0), 10)).containsExactly(job);
	}

	@Test
	void anotherInstanceContinuesAtOnceWhenOneDiesWhileItGivesBack() {
		byte[] list = bytes(this.queue);
		this.rig.push(list, 1);
		String job = this.rig.opened(list);
		this.rig.pop(job, list, 1);
		assertThat(this.rig.receipts().dueSlots()).isEmpty();
		cluster.at(this.queue).set(this.queue, "no list");
		assertThat(this.rig.receipts().giveBack(job, "none")).isEqualTo(Answer.BLOCKED);
		assertThat(this.rig.receipts().dueSlots()).hasSize(1);
	}

	@Test
	void twoSweepersAtOnceGiveTheValuesOfAllSlotsBackInOrder() {
		List<byte[]> lists = IntStream.range(0, 12).mapToObj((i) -> bytes("list" + i)).toList();
		List<String> taken = new ArrayList<>();
		for (byte[] list : lists) {
			this.rig.push(list, 1200);
			String job = this.rig.opened(list);
			this.rig.pop(job, list, 1100);
			this.rig.receipts().handOver(job, ReceiptRig.LONG, 1100);
			this.rig.expire(job);
			taken.add(job);
		}
		ReceiptSweeper other = this.rig.sweeper();
		try {
			this.rig.sweepUntil(() -> ReceiptRig.receiptKeys().isEmpty());
		}
		finally {
			other.stop();
		}
		for (byte[] list : lists) {
			assertThat(this.rig.values(list))
				.isEqualTo(IntStream.range(0, 1200).mapToObj((i) -> "v" + (1199 - i)).toList());
		}
		assertThat(taken).allMatch((job) -> this.rig.receipts().giveBack(job, "none") == Answer.GONE);
		// Empty slots are checked twice more, and then not any longer.
		this.rig.sweepUntil(() -> {
			RedisCommands<String, String> redis = cluster.at(ReceiptRig.SLOTS);
			redis.zrange(ReceiptRig.SLOTS, 0, -1)
				.forEach((slot) -> redis.zadd(ReceiptRig.SLOTS, ZAddArgs.Builder.xx(), 0, slot));
			return redis.zcard(ReceiptRig.SLOTS) == 0;
		});
		assertThat(cluster.nodes().flatMap((node) -> node.client().keys("*").stream()))
			.filteredOn((key) -> !ReceiptRig.isOfJobs(key))
			.hasSize(12);
	}

	@Test
	void aReceiptThatRedisRefusesDelaysNoOther() {
		byte[] refused = bytes(this.queue);
		byte[] next = bytes(this.queue + "-next");
		byte[] other = bytes(this.rig.list(2) + "-other");
		String held = this.rig.expired(refused);
		this.rig.expired(next);
		this.rig.expired(other);
		permit(AclSetuserArgs.Builder.resetKeys().keyPattern("pipeset:*").keyPattern("*next").keyPattern("*other"));
		try {
			this.rig.sweepUntil(() -> this.rig.values(next).size() == 2 && this.rig.values(other).size() == 2);
		}
		finally {
			permit(AclSetuserArgs.Builder.allKeys());
		}
		assertThat(this.rig.values(refused)).hasSize(1);
		this.rig.expire(held);
		this.rig.sweepUntil(() -> this.rig.values(refused).size() == 2);
		assertThat(ReceiptRig.receiptKeys()).isEmpty();
	}

	/** Otherwise each of its slots would delay the others by two seconds. */
	@Test
	void anUnavailableMasterIsCalledOnceASweep() {
		TestRedis index = cluster.owner(TestCluster.slot(ReceiptRig.SLOTS));
		int down = (cluster.master(0) != index) ? 0 : 1;
		for (int i = 0; i < 6; i++) {
			this.rig.expired(bytes(this.rig.list(down)));
		}
		byte[] other = bytes(this.rig.list(2) + "-other");
		this.rig.expired(other);
		// It is due after the others.
		cluster.at(ReceiptRig.SLOTS).zadd(ReceiptRig.SLOTS, 1, String.valueOf(TestCluster.slot(text(other))));
		List<TestRedis> up = cluster.nodes().filter((node) -> node != cluster.master(down)).toList();
		up.forEach((node) -> node.client().configSet("cluster-require-full-coverage", "no"));
		try {
			cluster.drop(TestCluster.slot(this.rig.list(down)));
			await().until(() -> cluster.master(down).client().clusterInfo().contains("cluster_state:fail"));
			up.forEach((node) -> await().until(() -> node.client().clusterInfo().contains("cluster_state:ok")));
			long before = ReceiptRig.errors(cluster.master(down), "CLUSTERDOWN");
			// One sweep, which ends before the next one starts.
			this.rig.sweepUntil(() -> this.rig.values(other).size() == 2, Duration.ofSeconds(20));
			assertThat(ReceiptRig.errors(cluster.master(down), "CLUSTERDOWN") - before).isBetween(1L, 60L);
		}
		finally {
			up.forEach((node) -> node.client().configSet("cluster-require-full-coverage", "yes"));
		}
	}

	/** Otherwise each of these slots would delay the others by two seconds. */
	@Test
	void aSweepDoesNotWaitForASlotWithoutAMaster() {
		List<byte[]> lists = IntStream.range(0, 6).mapToObj((i) -> bytes(this.rig.list(1))).toList();
		lists.forEach(this.rig::expired);
		byte[] other = bytes(this.rig.list(2) + "-other");
		this.rig.expired(other);
		// It is due after the others.
		cluster.at(ReceiptRig.SLOTS).zadd(ReceiptRig.SLOTS, 1, String.valueOf(TestCluster.slot(text(other))));
		cluster.nodes().forEach((node) -> node.client().configSet("cluster-require-full-coverage", "no"));
		try {
			lists.forEach((list) -> cluster.drop(TestCluster.slot(text(list))));
			cluster.nodes()
				.forEach((node) -> await().until(() -> node.client().clusterInfo().contains("cluster_state:ok")));
			this.rig.awaitUnserved(lists);
			long before = errors();
			this.rig.sweepUntil(() -> this.rig.values(other).size() == 2);
			assertThat(errors() - before).isLessThan(60);
		}
		finally {
			cluster.nodes().forEach((node) -> node.client().configSet("cluster-require-full-coverage", "yes"));
		}
	}

	private static long errors() {
		return cluster.nodes().mapToLong((node) -> ReceiptRig.errors(node, "CLUSTERDOWN")).sum();
	}

	private static void permit(AclSetuserArgs rules) {
		cluster.nodes().forEach((node) -> node.client().aclSetuser("service", rules));
	}

}
