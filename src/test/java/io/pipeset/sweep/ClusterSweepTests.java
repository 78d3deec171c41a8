package io.pipeset.sweep;

import java.io.IOException;
import java.time.Duration;
import java.util.stream.IntStream;

import io.pipeset.lane.LaneRig;
import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

/** A sweep of a cluster misses no key, though slots move between masters meanwhile. */
class ClusterSweepTests {

	/** More keys than the pages that are there before the first key is read. */
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
		assertThat(this.sweep.sweep().repeatedSlots()).isZero();
	}

	@Test
	void keysThatMoveToAMasterThatWasScannedAreFound() throws IOException {
		this.sweep.fill(0, MANY);
		this.sweep.readOthers();
		cluster.move(this.slot, this.to);
		this.sweep.readAll();
		assertThat(this.sweep.sweep().repeatedSlots()).isPositive();
	}

	@Test
	void keysOfASlotThatStaysOnItsWayAreFound() throws IOException {
		this.sweep.fill(0, MANY);
		cluster.begin(this.slot, this.from, this.to);
		this.sweep.readOthers();
		cluster.migrate(this.from, this.to,
				IntStream.range(0, MANY / 2).mapToObj((i) -> this.sweep.key(0, i)).toArray(String[]::new));
		this.sweep.readAll();
		assertThat(this.sweep.sweep().repeatedSlots()).isEqualTo(1);
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
