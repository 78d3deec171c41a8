package io.pipeset.web.failover;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.protocol.CommandType;
import io.pipeset.OwnThread;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.SmartLifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A job that asks for replicas calls nothing applied that too few of them have confirmed.
 */
@ServiceTest(properties = "pipeset.pipeline.window-commands=1000")
class ReplicasTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy("repl-diskless-sync-delay 0").as("loader");

	private static final TestRedis redis = own.redis();

	private static final TestRedis replica = TestRedis.start();

	private static final FaultProxy proxy = own.proxy();

	/** The calls of a job before its first batch: WAIT 0 0. */
	private static final int CALLS_AHEAD = 1;

	private final Service service;

	private final SmartLifecycle sweeper;

	ReplicasTests(Service service, @Autowired @Qualifier("receiptSweeper") SmartLifecycle sweeper) {
		this.service = service;
		this.sweeper = sweeper;
	}

	@BeforeAll
	static void replicate() {
		String password = redis.password();
		if (password != null) {
			replica.client().configSet("masterauth", password);
		}
		replica.client().replicaof(redis.host(), redis.port());
	}

	@AfterAll
	static void end() {
		replica.close();
	}

	@BeforeEach
	void emptyRedis() {
		own.permitAll();
		replica.resume();
		// The sweeper's calls would be counted as well.
		this.sweeper.stop();
		// So would be the handshake of a connection that a fence gives back later.
		proxy.resetAll();
		this.service.connect();
		redis.client().flushall();
		await().until(() -> redis.client().waitForReplication(1, 100) == 1);
		this.service.post("/pipeset/1?replicas=1&replicasTimeout=1m").report();
		redis.client().flushall();
		redis.client().configResetstat();
	}

	@ParameterizedTest
	@CsvSource({ "atomic=none&batchSize=100, 10", "atomic=batch&batchSize=100, 10", "atomic=none, 1",
			"atomic=none&concurrency=4, 4" })
	void whatIsAppliedIsOnTheReplicaAndEachBatchAskedForIt(String settings, int batches) {
		JsonNode report = this.service.post("/pipeset/1000?replicas=1&replicasTimeout=1m&" + settings).report();
		assertThat(replica.client().dbsize()).isEqualTo(1000);
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1000, 1000, 0, 0, 0, 0));
		assertThat(report.at("/settings/replicas").asInt()).isOne();
		assertThat(report.at("/settings/replicasTimeout").asString()).isEqualTo("60s");
		assertThat(report.at("/timings/batches/count").asInt()).isGreaterThanOrEqualTo(batches);
		assertThat(waits()).isEqualTo(1 + report.at("/timings/batches/count").asInt());
	}

	@Test
	void aBatchIsNoLargerThanTheWindowThatItsSlabsWaitIn() {
		this.service.post("/pipeset/20000?replicas=1&replicasTimeout=1m").report();
		assertThat(replica.client().dbsize()).isEqualTo(20_000);
		assertThat(waits()).isEqualTo(21);
	}

	@Test
	void aBatchThatEndsForAPauseOfTheInputAsksToo() throws Exception {
		try (Wire wire = Wire.upload(this.service, "/v1/jobs?replicas=1&replicasTimeout=1m")) {
			wire.chunk("[\"SET\",\"a\",1]\n");
			await().until(() -> waits() >= 2);
			long before = waits();
			wire.chunk("[\"SET\",\"b\",1]\n").lastChunk();
			assertThat(Answer.counts(wire.answer().report())).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
			assertThat(waits()).isGreaterThan(before);
		}
	}

	@Test
	void aJobThatIsStoppedDoesNotWaitForReplicasMuchLonger() throws Exception {
		replica.pause();
		try (Wire wire = Wire.upload(this.service, "/v1/jobs?replicas=1&replicasTimeout=1h&maxErrors=0")) {
			wire.chunk("[\"SET\",\"a\",1]\n");
			await().until(() -> waits() >= 1 && redis.client().info("clients").contains("blocked_clients:1\r"));
			wire.chunk("bad\n").lastChunk();
			JsonNode job = wire.answer().json().get("job");
			assertThat(Answer.counts(job)).isEqualTo(new Counts(2, 0, 0, 1, 1, 0));
			assertThat(job.at("/items/0/error/message").asString())
				.contains("confirmed it within the time until the job was stopped");
		}
	}

	@ParameterizedTest
	@CsvSource({ "none, off", "none, auto", "batch, auto" })
	void whatASilentReplicaDoesNotConfirmIsUnknownAndNothingElseIs(String atomic, String coalesce) {
		redis.client().rpush("list", "x", "y");
		replica.pause();
		Answer answer = this.service.ndjson(
				"/v1/jobs?replicas=1&replicasTimeout=20ms&atomic=" + atomic + "&coalesce=" + coalesce,
				"[\"SET\",\"a\",1]", "[\"SADD\",\"a\",1]", "[\"SET\",\"a\",2,\"NX\"]", "[\"RPOP\",\"list\"]",
				"[\"RPOP\",\"list\"]", "[\"RPOP\",\"list\"]", "bad", "[\"INCRBY\",\"n\",1]");
		JsonNode job = answer.job(502, "redis-lost", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(8, 0, 2, 2, 4, 0));
		assertThat(answer.json().at("/detail").asString()).startsWith("4 records ran, but fewer replicas")
			.doesNotContain("in flight");
		JsonNode first = job.at("/items/0");
		assertThat(first.at("/status").asString()).isEqualTo("unknown");
		assertThat(first.at("/error/code").asString()).isEqualTo("UNCONFIRMED");
		assertThat(first.at("/error/message").asString())
			.isEqualTo("Redis ran it, but 0 of 1 replica confirmed it within 20ms: a failover may lose it");
		assertThat(first.at("/error/retryable").asBoolean()).isTrue();
		assertThat(job.at("/items/1/error/code").asString()).isEqualTo("WRONGTYPE");
		assertThat(job.at("/items/2/reply").asString()).isEqualTo("y");
		assertThat(job.at("/items/2/status").asString()).isEqualTo("unknown");
		assertThat(job.at("/items/2/error/retryable").asBoolean()).isFalse();
		assertThat(job.at("/items/3/reply").asString()).isEqualTo("x");
		assertThat(redis.client().get("n")).as("the master has run it").isEqualTo("1");
		assertThat(job.has("fenced")).isFalse();
	}

	@Test
	void fewerReplicasThanAskedForAreCounted() {
		// The one replica may take longer than 20 ms. Nothing else is tried again.
		await().until(() -> {
			JsonNode job = this.service.post("/pipeset/3?replicas=2&replicasTimeout=20ms&results=all")
				.job(502, "redis-lost", "failed");
			assertThat(Answer.counts(job)).isEqualTo(new Counts(3, 0, 0, 0, 3, 0));
			assertThat(job.at("/items/2/reply").asString()).isEqualTo("OK");
			return job.at("/items/2/error/message").asString();
		}, (message) -> message.contains("1 of 2 replicas"));
	}

	@Test
	void poppedValuesAreInTheAnswerWhateverReplicasConfirm() {
		redis.client().rpush("mylist9", "x", "y");
		replica.pause();
		JsonNode job = this.service.post("/piperpop/3?replicas=1&replicasTimeout=20ms")
			.job(502, "redis-lost", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(3, 0, 1, 0, 2, 0));
		assertThat(job.get("values").toString()).isEqualTo("[\"y\",\"x\"]");
	}

	@Test
	void aReliablePopThatIsNotConfirmedIsNotHandedOver() {
		redis.client().rpush("mylist9", "x", "y");
		JsonNode report = this.service.post("/piperpop/1?replicas=1&replicasTimeout=1m&reliable=true").report();
		assertThat(report.has("receipt")).isTrue();
		replica.pause();
		JsonNode job = this.service.post("/piperpop/1?replicas=1&replicasTimeout=20ms&reliable=true")
			.job(502, "redis-lost", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(1, 0, 0, 0, 1, 0));
		assertThat(job.has("receipt")).isFalse();
		assertThat(redis.client().lrange("pipeset:pop:" + job.get("jobId").asString(), 0, -1)).containsExactly("x");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1 })
	void aLossBeforeReplicasHaveConfirmedSendsAgainWhatDoesNoHarm(int retries) throws Exception {
		CompletableFuture<ProxyLink> wait = proxy.stopAt(Way.REPLIES, CALLS_AHEAD + 4, 0);
		CompletableFuture<Answer> upload = OwnThread
			.supply(() -> this.service.ndjson("/v1/jobs?replicas=1&replicasTimeout=1m&coalesce=off&retries=" + retries,
					"[\"SET\",\"a\",1]", "[\"RPUSH\",\"list\",\"x\"]", "[\"SADD\",\"list\",1]", "[\"SET\",\"b\",1]"));
		// The refusal and the replies of the other records are read, unlike after a
		// reset.
		wait.get(1, TimeUnit.MINUTES).end();
		JsonNode job = upload.get(1, TimeUnit.MINUTES).job(502, "redis-lost", "failed");
		assertThat(Answer.counts(job))
			.isEqualTo((retries == 0) ? new Counts(4, 0, 0, 1, 3, 0) : new Counts(4, 2, 0, 1, 1, 0));
		JsonNode push = job.at((retries == 0) ? "/items/1" : "/items/0");
		assertThat(push.at("/op").asString()).isEqualTo("RPUSH");
		assertThat(push.at("/error/code").asString()).isEqualTo("UNCONFIRMED");
		assertThat(push.at("/error/message").asString())
			.startsWith("Redis ran it, but was lost before 1 replica confirmed it.");
		assertThat(redis.client().lrange("list", 0, -1)).containsExactly("x");
		assertThat(job.has("fenced")).as("a command that may still run").isFalse();
	}

	@Test
	void whatIsAnsweredAndWhatIsNotAreToldApartAfterALoss() throws Exception {
		// Behind the calls ahead and the handshake of a connection that may be new, and
		// when all is written: what is still sent to an ended connection breaks it, with
		// the replies that were not read yet.
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 100, 0);
		CompletableFuture<Answer> upload = OwnThread.supply(() -> this.service
			.post("/listinput/list?count=200&replicas=1&replicasTimeout=1m&flush=close&coalesce=off"));
		place.get(1, TimeUnit.MINUTES).end();
		Answer answer = upload.get(1, TimeUnit.MINUTES);
		JsonNode job = answer.job(502, "redis-lost", "failed");
		List<String> codes = job.get("items").valueStream().map((item) -> item.at("/error/code").asString()).toList();
		int answered = codes.indexOf("CONNECTION_LOST");
		assertThat(answered).isBetween(50, 100);
		assertThat(codes.subList(0, answered)).containsOnly("UNCONFIRMED");
		assertThat(codes.subList(answered, codes.size())).doesNotContain("UNCONFIRMED");
		assertThat(answer.json().at("/detail").asString()).contains(answered + " records ran, but fewer replicas");
	}

	@Test
	void nothingRunsWhereWaitIsNotPermitted() {
		own.forbid(CommandType.WAIT);
		Answer answer = this.service.post("/pipeset/10?replicas=1");
		JsonNode job = answer.job(503, "redis-refuses", "stopped");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(10, 0, 0, 0, 0, 10));
		assertThat(answer.json().at("/detail").asString()).contains("replicas=1", "WAIT", "NOPERM");
		assertThat(redis.client().dbsize()).isZero();
		this.service.post("/pipeset/10?replicas=1&dryRun=true").report();
		this.service.post("/pipeset/10?replicas=0").report();
	}

	@Test
	void aRefusalInTheMidstOfAJobStopsItAndConfirmsNothing() throws Exception {
		CompletableFuture<ProxyLink> wait = proxy.stopAt(Way.COMMANDS, CALLS_AHEAD + 2, 0);
		CompletableFuture<Answer> posted = OwnThread
			.supply(() -> this.service.post("/pipeset/4?replicas=1&replicasTimeout=1m&batchSize=2&coalesce=off"));
		ProxyLink link = wait.get(1, TimeUnit.MINUTES);
		own.forbid(CommandType.WAIT);
		link.goOn();
		Answer answer = posted.get(1, TimeUnit.MINUTES);
		JsonNode job = answer.job(502, "redis-lost", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(4, 0, 0, 0, 2, 2));
		assertThat(answer.json().at("/detail").asString()).contains("2 records ran", "WAIT", "NOPERM");
	}

	@ParameterizedTest
	@CsvSource({ "replicas=6, replicas", "replicas=1&replicasTimeout=0ms, replicasTimeout",
			"replicasTimeout=5s, replicas from 1 to 5" })
	void settingsWithoutAMeaningAreRefused(String settings, String reason) {
		assertThat(this.service.post("/pipeset/1?" + settings).refusal(400, "invalid-setting")).contains(reason);
	}

	/** How often WAIT was called since the test began. */
	private static long waits() {
		return redis.client()
			.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_wait:"))
			.mapToLong((line) -> Long.parseLong(line.replaceAll("[^=]*=(\\d+).*", "$1")))
			.sum();
	}

}
