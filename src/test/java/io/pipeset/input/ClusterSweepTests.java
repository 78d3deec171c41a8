package io.pipeset.input;

import java.io.IOException;
import java.time.Duration;
import java.util.stream.IntStream;

import io.pipeset.engine.lane.LaneRig;
import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

/** A sweep of a cluster misses no key, even if slots move between masters meanwhile. */
class ClusterSweepTests {

	/** More keys than the pages that are prefetched before the first key is read. */
	private static final int MANY = 5000;

	private static final TestCluster cluster = TestCluster.shared();

	private static LaneRig rig;

	private final TestRedis from = cluster.master(0);

	private final TestRedis to = cluster.master(1);

	private final int slot = TestCluster.slot(cluster.tag(0, 0));

	private final SweepOfCluster sweep = new SweepOfCluster(cluster, rig, Duration.ofSeconds(1), 0);

	@BeforeAll
	static void start() {
		rig = new LaneRig(cluster.properties());
	}

	@AfterAll
	static void end() {
		rig.close();
	}

	@AfterEach
	void reset() {
		this.sweep.close();
		cluster.reset();
	}

	@Test
	void theKeysOfAllMastersAreFound() throws IOException {
		IntStream.range(0, 3).forEach((master) -> this.sweep.fill(master, MANY));
		this.sweep.readAll();
		assertThat(this.sweep.sweep().scan().repeatedSlots()).isZero();
	}

	@Test
	void keysThatMoveToAMasterThatWasScannedAreFound() throws IOException {
		this.sweep.fill(0, MANY);
		this.sweep.readOthers();
		cluster.move(this.slot, this.to);
		this.sweep.readAll();
		assertThat(this.sweep.sweep().scan().repeatedSlots()).isPositive();
	}

	@Test
	void keysOfASlotThatKeepsMigratingAreFound() throws IOException {
		this.sweep.fill(0, MANY);
		cluster.begin(this.slot, this.from, this.to);
		this.sweep.readOthers();
		cluster.migrate(this.from, this.to, keys(0, MANY / 2));
		this.sweep.readAll();
		assertThat(this.sweep.sweep().scan().repeatedSlots()).isEqualTo(1);
	}

	@Test
	void theMemoryOfALongKeyIsHeldWhileItIsRead() throws IOException {
		String key = "k".repeat(1 << 20);
		this.sweep.readTo(key);
		assertThat(this.sweep.heldBytes()).isGreaterThan(key.length());
		this.sweep.readAll();
		this.sweep.close();
		assertThat(this.sweep.heldBytes()).isZero();
	}

	@Test
	void keysThatComeBackWhileTheirSlotIsScannedAgainAreFound() throws IOException {
		// The master that takes the slot has the greatest epoch already, and keeps it.
		cluster.move(TestCluster.slot(cluster.tag(0, 1)), this.to);
		String[] moved = beginScanningAgain();
		cluster.migrate(this.from, this.to, keys(MANY / 2, MANY));
		cluster.end(this.slot, this.from, this.to);
		cluster.begin(this.slot, this.to, this.from);
		cluster.migrate(this.to, this.from, moved);
		this.sweep.readAll();
	}

	@Test
	void keysThatComeBackWhenAMigrationIsCancelledAreFound() throws IOException {
		String[] moved = beginScanningAgain();
		this.from.client().clusterSetSlotStable(this.slot);
		cluster.migrate(this.to, this.from, moved);
		this.to.client().clusterSetSlotStable(this.slot);
		this.sweep.readAll();
	}

	/**
	 * Moves half of a slot's keys to a master that was already scanned. Then the second
	 * scan reads the master that serves the slot, but not yet the importing master.
	 */
	private String[] beginScanningAgain() throws IOException {
		this.sweep.fill(0, MANY);
		cluster.begin(this.slot, this.from, this.to);
		this.sweep.readOthers();
		String[] moved = keys(0, MANY / 2);
		cluster.migrate(this.from, this.to, moved);
		this.sweep.readAgain(MANY - MANY / 2);
		return moved;
	}

	private String[] keys(int first, int end) {
		return IntStream.range(first, end).mapToObj((i) -> this.sweep.key(0, i)).toArray(String[]::new);
	}

	@Test
	void aSlotWithoutAMasterEndsASweepWithItsName() {
		this.sweep.fill(0, 10);
		cluster.drop(this.slot);
		try {
			assertThatIOException().isThrownBy(this.sweep::readAll);
			assertThat(this.sweep.job().stop().ending()).isNotNull()
				.satisfies((ending) -> assertThat(ending.detail()).contains("Slot " + this.slot + " "));
		}
		finally {
			cluster.give(this.slot, this.from);
		}
	}

}
