package io.pipeset.redis;

import io.lettuce.core.RedisCommandExecutionException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The cluster of the tests redirects on purpose, and is whole again afterwards. */
class TestClusterTests {

	private static final TestCluster cluster = TestCluster.shared();

	private final TestRedis from = cluster.master(0);

	private final TestRedis to = cluster.master(1);

	private final String tag = cluster.tag(0, 0);

	private final int slot = TestCluster.slot(this.tag);

	private final String key = "{" + this.tag + "}1";

	private final String other = "{" + this.tag + "}2";

	@AfterEach
	void reset() {
		cluster.reset();
		for (int i = 0; i < 3; i++) {
			String key = "{" + cluster.tag(i, 0) + "}1";
			assertThat(cluster.owner(TestCluster.slot(key))).isSameAs(cluster.master(i));
			assertThat(cluster.at(key).set(key, "v")).isEqualTo("OK");
			assertThat(cluster.at(key).del(key)).isOne();
		}
		assertThat(this.from.client().exists(this.other)).isZero();
	}

	@Test
	void eachStepOfAMoveAnswersItsRedirection() {
		this.from.client().set(this.key, "1");
		this.from.client().set(this.other, "2");
		cluster.begin(this.slot, this.from, this.to);
		cluster.migrate(this.from, this.to, this.other);
		assertThat(this.from.client().set(this.key, "there")).isEqualTo("OK");
		refused(() -> this.from.client().set(this.other, "x"), "ASK " + this.slot + " " + TestCluster.address(this.to));
		refused(() -> this.from.client().del(this.key, this.other), "TRYAGAIN");
		cluster.migrate(this.from, this.to, this.key);
		cluster.end(this.slot, this.from, this.to);
		refused(() -> this.from.client().set(this.key, "x"), "MOVED " + this.slot + " " + TestCluster.address(this.to));
		assertThat(cluster.at(this.key).get(this.key)).isEqualTo("there");
	}

	@Test
	void aSlotThatNobodyHasIsDown() {
		cluster.drop(this.slot);
		refused(() -> this.from.client().set(this.key, "x"), "CLUSTERDOWN");
		cluster.give(this.slot, this.to);
	}

	/**
	 * A message on its way must not take the slot from the master that has just got it.
	 */
	@Test
	void aSlotThatGoesBackAndForthIsServedByItsNewMasterAtOnce() {
		for (int round = 0; round < 60; round++) {
			TestRedis next = cluster.master((round + 1) % 3);
			cluster.move(this.slot, next);
			assertThat(next.client().set(this.key, "v")).as("round %d", round).isEqualTo("OK");
		}
	}

	private static void refused(ThrowingCallable call, String error) {
		assertThatThrownBy(call).isInstanceOf(RedisCommandExecutionException.class).hasMessageStartingWith(error);
	}

}
