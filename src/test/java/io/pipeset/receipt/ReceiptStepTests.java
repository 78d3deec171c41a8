package io.pipeset.receipt;

import java.util.List;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static io.pipeset.receipt.ReceiptRig.bytes;
import static io.pipeset.receipt.ReceiptRig.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * In a cluster no value is lost or duplicated if an instance dies after any step of a
 * receipt.
 */
class ReceiptStepTests {

	private static final TestCluster cluster = TestCluster.shared();

	private final ReceiptRig rig = ReceiptRig.shared();

	/** A list at the first master. */
	private final String queue = this.rig.list(0);

	@AfterEach
	void reset() {
		cluster.reset();
	}

	/**
	 * Takes the steps of an instance up to one of them, as if it had then been killed.
	 */
	@ParameterizedTest
	@EnumSource
	void noValueIsLostOrDuplicatedAfterAnyStep(Step last) {
		byte[] list = bytes(this.queue);
		this.rig.push(list, 600);
		List<String> before = this.rig.values(list);
		String job = this.rig.job(list);
		for (Step step : Step.values()) {
			if (step.compareTo(last) <= 0) {
				step.take(this.rig, job, list);
			}
		}
		this.rig.expire(job);
		if (last == Step.RECORDED) {
			// The next receipt in the slot makes sweepers check it.
			this.rig.opened(list);
			this.rig.expire(job);
		}
		this.rig.sweepUntil(() -> cluster.at(this.queue).zscore(text(ReceiptKeys.ofJob(job).index()), job) == null);
		assertThat(this.rig.values(list)).isEqualTo(before);
		assertThat(cluster.at(this.queue)
			.exists(text(ReceiptKeys.ofJob(job).receipt(job)), text(ReceiptKeys.ofJob(job).returning(job)))).isZero();
		// A job that still ran could move no more values.
		assertThat(cluster.at(this.queue).type(text(ReceiptKeys.ofJob(job).popped(job))))
			.isEqualTo((last.compareTo(Step.HANDED_OVER) < 0) ? "string" : "none");
	}

	/** The steps of an instance. */
	enum Step {

		/** The receipt exists, but its slot is not marked. */
		RECORDED {
			@Override
			void take(ReceiptRig rig, String job, byte[] list) {
				rig.receipts().open(job, "none", list, ReceiptRig.LONG);
				cluster.at(ReceiptRig.SLOTS).del(ReceiptRig.SLOTS, "pipeset:{receipts}:marks");
			}
		},

		MARKED {
			@Override
			void take(ReceiptRig rig, String job, byte[] list) {
				rig.receipts().mark(job, ReceiptRig.LONG);
			}
		},

		SOME_POPPED {
			@Override
			void take(ReceiptRig rig, String job, byte[] list) {
				rig.pop(job, list, 100);
			}
		},

		ALL_POPPED {
			@Override
			void take(ReceiptRig rig, String job, byte[] list) {
				rig.pop(job, list, 500);
			}
		},

		HANDED_OVER {
			@Override
			void take(ReceiptRig rig, String job, byte[] list) {
				assertThat(rig.receipts().handOver(job, ReceiptRig.LONG, 600)).isPresent();
			}
		},

		/** The first part of a nack. */
		CLAIMED {
			@Override
			void take(ReceiptRig rig, String job, byte[] list) {
				ReceiptKeys keys = ReceiptKeys.ofJob(job);
				RedisCommands<String, String> redis = cluster.at(text(list));
				redis.rename(text(keys.popped(job)), text(keys.returning(job)));
				redis.hset(text(keys.receipt(job)), "state", "returning");
			}
		},

		SOME_BACK {
			@Override
			void take(ReceiptRig rig, String job, byte[] list) {
				ReceiptKeys keys = ReceiptKeys.ofJob(job);
				rig.calls()
					.evalRepeatable(keys.slot(), ReceiptScripts.GIVE_BACK, keys.all(job, list),
							ReceiptScripts.arguments(job, 200, "now"));
			}
		};

		abstract void take(ReceiptRig rig, String job, byte[] list);

	}

}
