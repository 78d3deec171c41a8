package io.pipeset.receipt;

import java.time.Duration;

import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.LaneRig;
import io.pipeset.engine.lane.Lanes;
import io.pipeset.memory.MemoryShare;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A job pops no more than its limits allow, even if later values are larger than earlier
 * ones.
 */
class PopBudgetTests {

	private static final Duration LONG = Duration.ofMinutes(10);

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start();

	private static final TestRedis redis = own.redis();

	private static final LaneRig rig = new LaneRig(own.properties(), "pipeset.pipeline.max-connections=2",
			"pipeset.pipeline.window-commands=2");

	@AfterAll
	static void close() {
		rig.close();
	}

	@Test
	void aPopOfManyValuesStaysWithinTheBytesAfterSmallValues() {
		String large = "x".repeat(100_000);
		for (int i = 0; i < 200; i++) {
			redis.client().lpush("list", large);
		}
		for (int i = 0; i < 100; i++) {
			redis.client().rpush("list", "small");
		}
		LaneContext context = rig.context(LaneRig.settings(1000, 1, 1, LONG), rig.threads());
		Lanes lanes = new Lanes(context);
		PopBudget budget = new PopBudget(100_000, 1 << 20, context, lanes, (MemoryShare) context.memory());
		Record record = new Record();
		for (int i = 0; i < 100; i++) {
			pop(lanes, budget, record, "list");
		}
		pop(lanes, budget, record, "list", "200");
		lanes.drain();
		lanes.close();
		assertThat(context.account().taken().bytes()).isBetween(900_000L, 1L << 20);
		assertThat(redis.client().llen("list")).isEqualTo(300 - context.account().taken().count());
	}

	private static void pop(Lanes lanes, PopBudget budget, Record record, String... arguments) {
		LaneRig.prepare(record, Operation.RPOP, arguments);
		assertThat(budget.admits(record)).isTrue();
		lanes.add(record);
	}

}
