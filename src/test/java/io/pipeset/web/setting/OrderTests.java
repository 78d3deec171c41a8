package io.pipeset.web.setting;

import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Records of one key stay in order, whatever the settings for lanes, batches and
 * flushing.
 */
@ServiceTest
class OrderTests {

	private static final int KEYS = 50;

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	OrderTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@CsvSource({ "1, each", "2, each", "3, close", "4, buffered:3", "5, close", "6, buffered:100", "7, buffered:2",
			"10000, buffered:500" })
	void recordsOfAKeyStayInOrder(int batchSize, String flush) {
		int records = 10_000;
		JsonNode report = this.service
			.upload("/v1/jobs?concurrency=16&batchSize=" + batchSize + "&flush=" + flush, Service.NDJSON,
					Lines.of(records, OrderTests::setOrPush))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
		for (int key = 0; key < KEYS; key++) {
			List<String> expected = new ArrayList<>();
			for (int i = key; i < records; i += KEYS) {
				expected.add(0, Integer.toString(i));
			}
			if (key % 2 == 0) {
				assertThat(this.redis.get("k" + key)).isEqualTo(expected.get(0));
			}
			else {
				assertThat(this.redis.lrange("k" + key, 0, -1)).isEqualTo(expected);
			}
		}
	}

	@Test
	void aRecordWithSeveralKeysRunsBetweenThoseBeforeAndThoseAfterIt() {
		List<String> lines = new ArrayList<>();
		for (int round = 0; round < 15; round++) {
			for (int key = 0; key < 40; key++) {
				lines.add("[\"LPUSH\",\"k" + key + "\",\"" + round + "\"]");
			}
			StringBuilder del = new StringBuilder("[\"DEL\"");
			for (int key = 0; key < 30; key++) {
				del.append(",\"k").append(key).append('"');
			}
			lines.add(del + "]");
			lines.add("[\"LPUSH\",\"k0\",\"after " + round + "\"]");
		}
		JsonNode report = this.service
			.ndjson("/v1/jobs?concurrency=4&batchSize=3&results=all", lines.toArray(String[]::new))
			.report();
		int dels = 0;
		for (JsonNode item : report.get("items")) {
			if (item.get("op").asString().equals("DEL")) {
				dels++;
				assertThat(item.get("reply").asInt()).isEqualTo(30);
			}
		}
		assertThat(dels).isEqualTo(15);
		assertThat(this.redis.lrange("k0", 0, -1)).containsExactly("after 14");
		assertThat(this.redis.dbsize()).isEqualTo(11);
		assertThat(this.redis.llen("k39")).isEqualTo(15);
	}

	@ParameterizedTest
	@CsvSource({ "1, each", "16, each", "1, close", "16, close", "4, buffered:1", "4, buffered:100000" })
	void whatIsInRedisDoesNotDependOnLanesAndFlushing(int concurrency, String flush) {
		JsonNode report = this.service
			.post("/pipeset/3000?batchSize=700&concurrency=" + concurrency + "&flush=" + flush)
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3000, 3000, 0, 0, 0, 0));
		assertThat(this.redis.dbsize()).isEqualTo(3000);
		assertThat(this.redis.get("keyA02999")).isEqualTo("value-02999");
	}

	private static String setOrPush(long i) {
		long key = i % KEYS;
		return (key % 2 == 0) ? "[\"SET\",\"k" + key + "\",\"" + i + "\"]"
				: "[\"LPUSH\",\"k" + key + "\",\"" + i + "\"]";
	}

}
