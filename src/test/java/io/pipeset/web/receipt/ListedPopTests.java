package io.pipeset.web.receipt;

import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** Pops that are on their way leave memory to the records that a report lists. */
@ServiceTest(properties = { "pipeset.memory.budget=16MB", "pipeset.limits.max-running-jobs=4",
		"pipeset.limits.max-items=10000", "pipeset.limits.max-items-bytes=16MB" })
class ListedPopTests {

	private static final int POPS = 200;

	private static final int SETS_A_POP = 10;

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ListedPopTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	/** Every value may be as large as the first one, which takes most of the memory. */
	@ParameterizedTest
	@ValueSource(strings = { "flush=close", "flush=each", "flush=close&concurrency=4" })
	void everyRecordIsListedWhereMemoryIsFree(String settings) {
		this.redis.lpush("queue", "x".repeat(20_000));
		List<String> records = new ArrayList<>();
		for (int pop = 0; pop < POPS; pop++) {
			this.redis.lpush("queue", "value");
			records.add("[\"RPOP\",\"queue\"]");
			for (int set = 0; set < SETS_A_POP; set++) {
				records.add("[\"SET\",\"key" + pop + "\",\"value\"]");
			}
		}
		JsonNode report = this.service
			.ndjson("/v1/jobs?results=all&batchSize=100000&" + settings, records.toArray(String[]::new))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(records.size(), records.size(), 0, 0, 0, 0));
		assertThat(report.get("itemsOmitted").asInt()).isZero();
		assertThat(report.get("items")).hasSize(records.size());
	}

}
