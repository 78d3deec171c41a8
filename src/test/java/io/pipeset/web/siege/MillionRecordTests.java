package io.pipeset.web.siege;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A million records are a job like any other. {@link SmallHeapTests} has fewer beside
 * less memory.
 */
@ServiceTest
class MillionRecordTests {

	private static final int MILLION = 1_000_000;

	private static final RedisCommands<String, String> redis = TestRedis.shared().client();

	private final Service service;

	MillionRecordTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		redis.flushall();
	}

	@AfterAll
	static void leaveNothingBehind() {
		redis.flushall();
	}

	@Test
	void aMillionGeneratedRecordsAreExactlyThoseKeys() {
		JsonNode report = this.service.post("/pipeset/1000000").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(MILLION, MILLION, 0, 0, 0, 0));
		assertThat(redis.dbsize()).isEqualTo(MILLION);
		assertThat(redis.exists("keyA00000", "keyA99999", "keyA100000", "keyA999999")).isEqualTo(4);
		assertThat(redis.get("keyA654321")).isEqualTo("value-654321");
	}

}
