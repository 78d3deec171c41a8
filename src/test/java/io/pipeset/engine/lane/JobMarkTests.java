package io.pipeset.engine.lane;

import java.time.Duration;
import java.util.Map;

import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.slab.LaneMark;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A mark that a process has created in part is created by the next one. */
class JobMarkTests {

	private static final TestRedis redis = TestRedis.shared();

	private static final String KEY = "pipeset:once:job";

	private static LaneRig rig;

	private final JobStop stop = new JobStop();

	private final Record record = new Record();

	@BeforeAll
	static void open() {
		rig = new LaneRig(redis.properties());
	}

	@AfterAll
	static void close() {
		rig.close();
	}

	@BeforeEach
	void emptyRedis() {
		redis.client().flushall();
		LaneRig.prepare(this.record, Operation.INCR, "n");
	}

	@Test
	void aMarkThatIsNotWholeIsCreatedAgain() {
		redis.client().hset(KEY, Map.of("owner", "dead", "request", "", "0", LaneMark.NONE));
		assertThat(mark(false).begin(this.record)).isTrue();
		assertThat(this.stop.isSet()).isFalse();
		assertThat(redis.client().hgetall(KEY)).containsEntry("0", LaneMark.NONE)
			.containsEntry("1", LaneMark.NONE)
			.containsEntry("lanes", "1 2")
			.doesNotContainEntry("owner", "dead");
	}

	@Test
	void aMarkThatWasWholeAndIsNotAnyMoreStopsTheJob() {
		redis.client().hset(KEY, Map.of("owner", "dead", "0", LaneMark.NONE));
		assertThat(mark(true).begin(this.record)).isFalse();
		assertThat(this.stop.isSet()).isTrue();
	}

	private JobMark mark(boolean begun) {
		return new JobMark(rig.bean(RedisNodes.class), "job", "", 2, Duration.ofSeconds(10), this.stop, true, begun);
	}

}
