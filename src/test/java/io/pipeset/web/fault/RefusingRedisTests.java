package io.pipeset.web.fault;

import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.web.document.Examples;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A Redis that refuses to write, for want of memory or as a replica, refuses the whole
 * job or stops it.
 */
@ServiceTest(properties = "pipeset.defaults.timeout=10m")
class RefusingRedisTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start();

	private static final TestRedis redis = own.redis();

	private final Service service;

	RefusingRedisTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		redis.client().flushall();
		assertThat(Answer.counts(this.service.post("/pipeset/10").report())).isEqualTo(new Counts(10, 10, 0, 0, 0, 0));
		redis.client().flushall();
	}

	@AfterEach
	void letRedisWrite() {
		redis.client().replicaofNoOne();
		redis.client().configSet("maxmemory", "0");
	}

	@Test
	void aRedisWithoutMemoryFromTheStartRefusesTheWholeJob() {
		redis.client().configSet("maxmemory", "1");
		Answer answer = this.service.post("/pipeset/100000?batchSize=500");
		JsonNode job = Examples.check(503, "redis-refuses", answer).job(503, "redis-refuses", "stopped");
		Counts counts = Answer.counts(job);
		assertThat(counts.received()).isEqualTo(100_000);
		assertThat(counts.applied()).isZero();
		assertThat(counts.rejected()).isPositive();
		assertThat(counts.unknown()).isZero();
		assertThat(job.at("/items/0/error/code").asString()).isEqualTo("OOM");
		assertThat(job.at("/items/0/error/retryable").asBoolean()).isTrue();
		assertThat(redis.client().dbsize()).isZero();
	}

	@Test
	void aRedisThatRunsOutOfMemoryStopsTheJob() {
		long used = Long.parseLong(redis.client()
			.info("memory")
			.lines()
			.filter((line) -> line.startsWith("used_memory:"))
			.findFirst()
			.orElseThrow()
			.substring("used_memory:".length())
			.strip());
		redis.client().configSet("maxmemory", Long.toString(used + (3 << 20)));
		Answer answer = this.service.post("/pipeset/100000?batchSize=500");
		JsonNode job = Examples.check(502, "redis-refuses", answer).job(502, "redis-refuses", "stopped");
		Counts counts = Answer.counts(job);
		assertThat(counts.received()).isEqualTo(100_000);
		assertThat(counts.applied()).isPositive().isEqualTo(redis.client().dbsize());
		assertThat(counts.rejected()).isGreaterThanOrEqualTo(500);
		assertThat(counts.unprocessed()).isPositive();
		assertThat(answer.json().at("/detail").asString()).contains("OOM");
		redis.client().configSet("maxmemory", "0");
		this.service.post("/pipeset/100000?batchSize=500").report();
		assertThat(redis.client().dbsize()).isEqualTo(100_000);
	}

	@Test
	void aReadOnlyReplicaRefusesTheWholeJob() {
		redis.client().replicaof("127.0.0.1", 1);
		Answer answer = this.service.post("/pipeset/1000");
		JsonNode job = answer.job(503, "redis-refuses", "stopped");
		assertThat(Answer.counts(job).applied()).isZero();
		assertThat(job.at("/items/0/error/code").asString()).isEqualTo("READONLY");
		assertThat(answer.json().at("/detail").asString()).contains("READONLY");
		redis.client().replicaofNoOne();
		assertThat(redis.client().dbsize()).isZero();
		this.service.post("/pipeset/1000").report();
		assertThat(redis.client().dbsize()).isEqualTo(1000);
	}

}
