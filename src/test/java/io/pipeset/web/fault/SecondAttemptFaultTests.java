package io.pipeset.web.fault;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.run.Jobs;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Records that ran, and whose answers were lost, stay unknown if their second attempt
 * fails, or if there is none. The tests count messages, so that only the job may send
 * any.
 */
@ServiceTest(properties = "pipeset.pipeline.max-connections=1")
class SecondAttemptFaultTests {

	private static final int RECORDS = 10;

	private static final Counts ALL_UNKNOWN = new Counts(RECORDS, 0, 0, 0, RECORDS, 0);

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	private final Jobs jobs;

	SecondAttemptFaultTests(Service service, @Autowired Jobs jobs) {
		this.service = service;
		this.jobs = jobs;
	}

	@BeforeEach
	void emptyRedis() {
		// A fence of the test before may give its connection back later, which has not
		// done its handshake for jobs.
		proxy.resetAll();
		this.service.connect();
		redis.client().flushall();
	}

	@AfterEach
	void allowEverything() {
		redis.client().replicaofNoOne();
		redis.client().configSet("maxmemory", "0");
		redis.resumeWrites();
	}

	@ParameterizedTest
	@CsvSource({ "none, READONLY", "batch, READONLY", "none, OOM", "batch, OOM" })
	void whatIsRefusedWhenItIsSentAgainIsUnknown(String atomic, String code) throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 0, 0);
		CompletableFuture<Answer> answer = send("SET", RECORDS, "atomic=" + atomic + "&retries=3&timeout=30s");
		ProxyLink link = ran(place);
		if (code.equals("OOM")) {
			redis.client().configSet("maxmemory", "1");
		}
		else {
			redis.client().replicaof("127.0.0.1", 1);
		}
		link.reset();
		JsonNode job = answer.get(60, TimeUnit.SECONDS).job(502, "redis-lost", "failed");
		assertThat(Answer.counts(job)).isEqualTo(ALL_UNKNOWN);
		assertThat(redis.client().dbsize()).isEqualTo(RECORDS);
		assertThat(job.at("/fenced").asBoolean()).isTrue();
		assertThat(job.at("/items/0/error/code").asString()).isEqualTo("CONNECTION_LOST");
		assertThat(job.at("/items/0/error/message").asString()).contains("; sent again, Redis answered: " + code);
	}

	/** The one connection goes to another job, and then the service is told to stop. */
	@ParameterizedTest
	@ValueSource(strings = { "none", "batch" })
	void whatIsNeverSentAgainIsUnknown(String atomic) throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 0, 0);
		CompletableFuture<Answer> answer = send("SET", RECORDS, "atomic=" + atomic + "&retries=3&timeout=60s");
		ProxyLink link = ran(place);
		CompletableFuture<Answer> other = send("SET", 1, "timeout=60s");
		await().until(() -> lanes("waiting") == 1);
		redis.pauseWrites();
		double retries = retries();
		link.reset();
		// By then the job has given its connection back, which goes to the first one in
		// the queue.
		await().until(() -> retries() > retries);
		await().until(() -> lanes("busy") == 1 && lanes("waiting") == 1);
		await().until(() -> redis.client().info("clients").contains("blocked_clients:1"));
		this.jobs.stopAll();
		redis.resumeWrites();
		JsonNode job = answer.get(60, TimeUnit.SECONDS).job(502, "redis-lost", "failed");
		assertThat(Answer.counts(job)).isEqualTo(ALL_UNKNOWN);
		assertThat(job.at("/fenced").asBoolean()).isTrue();
		assertThat(job.at("/items/0/error/code").asString()).isEqualTo("CONNECTION_LOST");
		assertThat(job.at("/items/0/error/message").asString()).endsWith("; the job ended before it was sent again");
		// All of it ran, though it was told to stop.
		JsonNode ran = other.get(60, TimeUnit.SECONDS).report();
		assertThat(Answer.counts(ran)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
	}

	@Test
	void whatIsAnsweredWhenItIsSentAgainIsWhatRedisAnswersThen() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 0, 0);
		CompletableFuture<Answer> answer = send("SADD", RECORDS, "results=all&retries=3&timeout=30s");
		ran(place).reset();
		JsonNode report = answer.get(60, TimeUnit.SECONDS).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
		assertThat(report.at("/items/0/reply").asInt()).isZero();
	}

	/** Its report mentions both. */
	@Test
	void aLossAfterTheStopIsToldWithTheNumberOfUnknownRecords() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 0, 0);
		try (Wire wire = Wire.upload(this.service, "/v1/jobs?flush=each")) {
			wire.chunk("[\"RPUSH\",\"l\",1]\n");
			ProxyLink link = place.get(30, TimeUnit.SECONDS);
			await().until(() -> redis.client().exists("l") == 1);
			this.jobs.stopAll();
			link.reset();
			Answer answer = wire.lastChunk().answer();
			JsonNode job = answer.job(502, "redis-lost", "failed");
			assertThat(Answer.counts(job)).isEqualTo(new Counts(1, 0, 0, 0, 1, 0));
			assertThat(answer.json().at("/detail").asString())
				.startsWith("1 records were in flight when the connection to Redis was lost")
				.contains("shut");
		}
		assertThat(redis.client().lrange("l", 0, -1)).containsExactly("1");
	}

	private CompletableFuture<Answer> send(String operation, int records, String settings) {
		return this.service.sendAsync(this.service.uploading("/v1/jobs?flush=close&" + settings, Service.NDJSON,
				Lines.of(records, (i) -> "[\"" + operation + "\",\"k" + i + "\",\"v\"]")));
	}

	/**
	 * Waits until all records have run and no answer has come through, and returns the
	 * connection.
	 */
	private static ProxyLink ran(CompletableFuture<ProxyLink> place) throws Exception {
		ProxyLink link = place.get(30, TimeUnit.SECONDS);
		await().until(() -> redis.client().dbsize() == RECORDS);
		return link;
	}

	private int lanes(String which) {
		return this.service.get("/actuator/pipeset").json().at("/lanes/" + which).asInt();
	}

	private double retries() {
		Answer answer = this.service.get("/actuator/metrics/pipeset.retries");
		return (answer.status() == 200) ? answer.json().at("/measurements/0/value").asDouble() : 0;
	}

}
