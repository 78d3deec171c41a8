package io.pipeset.web;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** A million records are a job like any other. */
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

	@Test
	void aMillionUploadedLinesAreAllAccountedFor() {
		redis.set("k500000", "a string");
		JsonNode report = this.service
			.upload("/v1/jobs?op=HSET&concurrency=2", Service.NDJSON, Lines.of(MILLION,
					(i) -> (i % 100_000 == 7) ? "bad" : "{\"key\":\"k" + i + "\",\"fields\":{\"n\":" + i + "}}"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(MILLION, MILLION - 11, 0, 11, 0, 0));
		assertThat(report.get("items")).hasSize(11);
		assertThat(report.at("/items/5/index").asInt()).isEqualTo(500_000);
		assertThat(redis.dbsize()).isEqualTo(MILLION - 10);
		assertThat(redis.hget("k999999", "n")).isEqualTo("999999");
	}

}
