package io.pipeset.web.fault;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** A verification reads once more what was lost with a connection. */
@ServiceTest
class VerifyFaultTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy().as("service");

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	VerifyFaultTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		proxy.resetAll();
		this.service.connect();
		redis.client().flushall();
		own.permitAll();
	}

	private Answer cut(String settings, Way way, int messages) throws Exception {
		for (int i = 0; i < 10; i++) {
			redis.client().set("k" + i, "v");
		}
		CompletableFuture<ProxyLink> place = proxy.stopAt(way, messages, 0);
		CompletableFuture<Answer> answer = this.service.sendAsync(this.service.uploading(
				"/v1/jobs?verify=true&concurrency=1&batchSize=10" + settings, Service.NDJSON,
				Lines.of(100L, (i) -> (i % 2 == 0) ? "[\"SET\",\"k" + i % 20 + "\",\"v\"]" : "[\"INCR\",\"n\"]")));
		place.get(30, TimeUnit.SECONDS).reset();
		return answer.get(30, TimeUnit.SECONDS);
	}

	@ParameterizedTest
	@CsvSource({ "COMMANDS,25", "REPLIES,25", "REPLIES,33", "COMMANDS,60" })
	void whatIsLostIsReadAgain(Way way, int messages) throws Exception {
		JsonNode report = cut("&retries=1", way, messages).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(100, 0, 0, 0, 0, 100));
		assertThat(report.at("/verified/incomparable").asInt()).isEqualTo(50);
		assertThat(report.at("/verified/same").asInt()).isEqualTo(25);
		assertThat(report.at("/verified/missing").asInt()).isEqualTo(5);
		assertThat(report.at("/verified/superseded").asInt()).isEqualTo(20);
		assertThat(redis.client().exists("n")).isZero();
	}

	@Test
	void whatAnotherClientWritesMeanwhileIsSeenByTheSecondLook() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.COMMANDS, 2, 0);
		CompletableFuture<Answer> answer = this.service
			.sendAsync(this.service.uploading("/v1/jobs?verify=true&concurrency=1", Service.NDJSON,
					Lines.of(2L, (i) -> "[\"HSET\",\"h" + i + "\",\"f\",\"v\"]")));
		ProxyLink link = place.get(30, TimeUnit.SECONDS);
		redis.client().hset("h0", "f", "v");
		redis.client().hset("h1", "other", "v");
		link.goOn();
		JsonNode report = answer.get(30, TimeUnit.SECONDS).report();
		assertThat(report.at("/verified/same").asInt()).isEqualTo(1);
		assertThat(report.at("/verified/different").asInt()).isEqualTo(1);
		assertThat(report.at("/verified/missing").asInt()).isZero();
	}

	@Test
	void withoutRetriesTheRestIsNotCompared() throws Exception {
		JsonNode job = cut("", Way.REPLIES, 25).job(502, "redis-lost", "failed");
		assertThat(Answer.counts(job).unknown()).isZero();
		assertThat(Answer.counts(job).applied()).isZero();
		assertThat(job.at("/errorCodes/NOT_SENT").asInt()).isPositive();
	}

	@Test
	void aRecordThatMayNotBeReadIsRejected() {
		own.forbid(CommandType.HMGET);
		JsonNode report = this.service
			.ndjson("/v1/jobs?verify=true", "[\"HSET\",\"h\",\"f\",\"v\"]", "[\"SET\",\"k\",\"v\"]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 0, 0, 1, 0, 1));
		assertThat(report.at("/errorCodes/NOPERM").asInt()).isEqualTo(1);
		assertThat(report.at("/verified/missing").asInt()).isEqualTo(1);
	}

}
