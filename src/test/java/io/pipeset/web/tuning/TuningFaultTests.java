package io.pipeset.web.tuning;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.run.Jobs;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
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

/** However a tuning ends, it says what it measured, and its keys do not stay. */
@ServiceTest(properties = { "pipeset.defaults.timeout=10m", "pipeset.pipeline.connect-timeout=1m" })
class TuningFaultTests {

	/** Two rows of a run each, behind two runs that are not measured. */
	private static final String SMALL = "/v1/tunings?records=1000&batchSizes=100,1000&flushes=close&concurrencies=1&runs=1";

	/** A number of messages in the second row of them. */
	private static final int IN_SECOND_ROW = 3_500;

	/** A number of replies in the run that is not measured, behind its preparation. */
	private static final int IN_FIRST_HASHES = 3_600;

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy().as("tuner");

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	private final Jobs jobs;

	TuningFaultTests(Service service, @Autowired Jobs jobs) {
		this.service = service;
		this.jobs = jobs;
	}

	@BeforeEach
	void emptyRedis() {
		own.permitAll();
		proxy.heal();
		redis.client().configSet("maxmemory", "0");
		await().ignoreExceptions().until(() -> this.service.post("/pipeset/1").status() == 200);
		redis.client().flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET", "HSET", "LPUSH" })
	void everyKeyExpiresFromItsFirstMomentOn(String operation) throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 4_700, 0);
		CompletableFuture<Answer> tuning = tune(SMALL + "&op=" + operation);
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		assertKeysThatExpire();
		link.goOn();
		assertThat(tuning.get(60, TimeUnit.SECONDS).status()).isEqualTo(200);
		assertThat(redis.client().dbsize()).isZero();
	}

	private static void assertKeysThatExpire() {
		assertThat(redis.client().keys("*")).hasSize(1_000).allMatch((key) -> key.startsWith("pipeset:tuning:"));
		assertThat(redis.client().info("keyspace")).contains(":keys=1000,expires=1000,");
	}

	@Test
	void aSecondTuningIsToldToComeBack() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, IN_SECOND_ROW, 0);
		CompletableFuture<Answer> first = tune(SMALL);
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		Answer second = this.service.post(SMALL);
		assertThat(second.refusal(429, "limit")).contains("Another tuning runs");
		assertThat(second.header("Retry-After")).matches("[1-9][0-9]*");
		link.goOn();
		assertThat(first.get(60, TimeUnit.SECONDS).status()).isEqualTo(200);
		assertThat(this.service.post(SMALL).status()).isEqualTo(200);
	}

	@Test
	void aTuningThatIsStoppedReportsItsRowsAndRemovesItsKeys() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.COMMANDS, IN_SECOND_ROW, 0);
		CompletableFuture<Answer> tuning = tune(SMALL);
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		await("was read to its end").until(() -> Thread.getAllStackTraces()
			.values()
			.stream()
			.map(Arrays::toString)
			.anyMatch((stack) -> stack.contains("Lanes.drain")));
		this.jobs.stopAll();
		link.goOn();
		JsonNode report = tuning.get(60, TimeUnit.SECONDS).problem(503, "shutting-down").get("tuning");
		assertThat(report.at("/state").asString()).isEqualTo("stopped");
		// All of the second one was sent, and ran.
		assertThat(runs(report)).containsExactly(1, 1);
		assertThat(report.has("keysLeft")).isFalse();
		assertThat(redis.client().dbsize()).isZero();
	}

	@Test
	void aConnectionThatIsLostEndsTheTuningAndTheKeysGoAllTheSame() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, IN_SECOND_ROW, 0);
		CompletableFuture<Answer> tuning = tune(SMALL);
		place.get(60, TimeUnit.SECONDS).reset();
		JsonNode report = tuning.get(60, TimeUnit.SECONDS).problem(502, "redis-lost").get("tuning");
		assertThat(report.at("/state").asString()).isEqualTo("failed");
		assertThat(runs(report)).containsExactly(1, 0);
		assertThat(report.at("/recommended/batchSize").asInt()).isEqualTo(100);
		assertThat(redis.client().dbsize()).isZero();
	}

	@Test
	void keysThatALostCommandCouldMakeAnewAreLeftToExpire() throws Exception {
		own.forbid(CommandType.CLIENT);
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, IN_FIRST_HASHES, 0);
		CompletableFuture<Answer> tuning = tune(SMALL + "&op=HSET");
		place.get(60, TimeUnit.SECONDS).reset();
		JsonNode report = tuning.get(60, TimeUnit.SECONDS).problem(502, "redis-lost").get("tuning");
		assertThat(report.at("/keysLeft").asInt()).isEqualTo(1_000);
		assertKeysThatExpire();
	}

	@Test
	void aRedisThatDiesEndsTheTuningWhichSaysWhichKeysItLeaves() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.COMMANDS, IN_SECOND_ROW, 0);
		CompletableFuture<Answer> tuning = tune(SMALL);
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		redis.kill();
		try {
			link.reset();
			JsonNode problem = tuning.get(60, TimeUnit.SECONDS).problem(502, "redis-lost");
			JsonNode report = problem.get("tuning");
			assertThat(runs(report)).containsExactly(1, 0);
			assertThat(report.at("/keysLeft").asInt()).isEqualTo(1_000);
			assertThat(problem.at("/detail").asString()).contains("1000 keys under 'pipeset:tuning:",
					"expire within an hour");
		}
		finally {
			redis.restart();
		}
	}

	@Test
	void aRedisThatIsDownIsUnreachableAndNothingIsMeasured() {
		redis.kill();
		try {
			await().until(() -> this.service.get("/actuator/health/readiness").status() == 503);
			Answer answer = this.service.post(SMALL);
			JsonNode report = answer.problem(503, "redis-unreachable").get("tuning");
			assertThat(answer.header("Retry-After")).matches("[1-9][0-9]*");
			assertThat(runs(report)).containsExactly(0, 0);
			assertThat(report.has("recommended")).isFalse();
			assertThat(report.has("keysLeft")).isFalse();
		}
		finally {
			redis.restart();
		}
	}

	@ParameterizedTest
	@CsvSource({ "SET, SET, 503", "LPUSH, LPUSH, 503", "LPUSH, MULTI, 503" })
	void aUserWhoMayNotRunTheRecordsIsToldWhatRedisSays(String operation, CommandType forbidden, int status) {
		// A service that knows of transactions finds out only when one is refused.
		this.service.post("/pipeset/0?atomic=batch").report();
		own.forbid(forbidden);
		JsonNode problem = this.service.post(SMALL + "&op=" + operation).problem(status, "redis-refuses");
		assertThat(problem.at("/detail").asString()).containsIgnoringCase("'" + forbidden + "'");
		assertThat(runs(problem.get("tuning"))).containsExactly(0, 0);
		assertThat(redis.client().dbsize()).isZero();
	}

	@Test
	void withoutTransactionsOnlyTheirBaselineIsMissing() {
		this.service.post("/pipeset/0?atomic=batch").report();
		own.forbid(CommandType.MULTI);
		JsonNode report = this.service.post(SMALL).json();
		assertThat(runs(report)).containsExactly(1, 1);
		assertThat(report.get("baselines").valueStream().map((baseline) -> baseline.get("how").asString()))
			.containsExactly("one by one", "pipeline, flush each");
	}

	@Test
	void withoutTheRightToAskForItTheTimeOfRedisIsLeftOut() {
		own.forbid(CommandType.INFO);
		JsonNode report = this.service.post(SMALL).json();
		assertThat(runs(report)).containsExactly(1, 1);
		assertThat(report.at("/rows/0").has("redisCpuSeconds")).isFalse();
	}

	@Test
	void withoutTheRightToRemoveThemTheKeysExpireAndTheReportSaysSo() {
		own.forbid(CommandType.UNLINK);
		JsonNode report = this.service.post(SMALL).json();
		assertThat(report.at("/state").asString()).isEqualTo("completed");
		assertThat(report.at("/keysLeft").asInt()).isEqualTo(1_000);
		assertKeysThatExpire();
	}

	@Test
	void dataForWhichRedisHasNoRoomIsNotWritten() {
		redis.client().set("mine", "1");
		redis.client().configSet("maxmemory", "16mb");
		redis.client().configSet("maxmemory-policy", "allkeys-lru");
		try {
			Answer answer = this.service.post(SMALL + "&valueBytes=100000");
			assertThat(answer.problem(503, "redis-refuses").at("/detail").asString()).contains("125240000 bytes",
					"left of its maxmemory");
			assertThat(redis.client().keys("*")).containsExactly("mine");
		}
		finally {
			redis.client().configSet("maxmemory-policy", "noeviction");
		}
	}

	@Test
	void theRoundingUpOfLargeValuesPushesOutNobodysKeys() {
		redis.client().set("mine", "1");
		// 1,000 values of 10,241 bytes take 12,288 bytes each.
		redis.client().configSet("maxmemory", String.valueOf(usedMemory() + 12_000_000));
		redis.client().configSet("maxmemory-policy", "allkeys-lru");
		try {
			this.service.post(SMALL + "&valueBytes=10241").problem(503, "redis-refuses");
			assertThat(redis.client().keys("*")).containsExactly("mine");
		}
		finally {
			redis.client().configSet("maxmemory-policy", "noeviction");
		}
	}

	@Test
	void withoutTheRightToPingOnlyTheRoundTripIsMissing() {
		own.forbid(CommandType.PING);
		JsonNode report = this.service.post(SMALL).json();
		assertThat(runs(report)).containsExactly(1, 1);
		assertThat(report.has("roundTripMicros")).isFalse();
	}

	@Test
	void keysThatALostCommandCouldMakeAnewAreRemovedAndReportedIfTheyExpireByThemselves() throws Exception {
		own.forbid(CommandType.CLIENT);
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, IN_SECOND_ROW, 0);
		CompletableFuture<Answer> tuning = tune(SMALL);
		place.get(60, TimeUnit.SECONDS).reset();
		JsonNode report = tuning.get(60, TimeUnit.SECONDS).problem(502, "redis-lost").get("tuning");
		assertThat(report.at("/keysLeft").asInt()).isEqualTo(1_000);
		assertThat(redis.client().dbsize()).isZero();
	}

	private static long usedMemory() {
		return redis.client()
			.info("memory")
			.lines()
			.filter((line) -> line.startsWith("used_memory:"))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
			.findFirst()
			.orElseThrow();
	}

	private CompletableFuture<Answer> tune(String path) {
		return this.service.sendAsync(this.service.request(path).POST(BodyPublishers.noBody()));
	}

	private static List<Integer> runs(JsonNode report) {
		return report.get("rows").valueStream().map((row) -> row.get("runs").asInt()).toList();
	}

}
