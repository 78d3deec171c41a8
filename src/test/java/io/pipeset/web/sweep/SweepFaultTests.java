package io.pipeset.web.sweep;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.run.Jobs;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * A sweep misses no key that is there all the time, whatever happens to Redis or to other
 * keys meanwhile. In a dry run nothing but SCAN is sent, so that its replies can be
 * counted.
 */
@ServiceTest(properties = { "spring.data.redis.timeout=10m", "pipeset.defaults.timeout=10m" })
class SweepFaultTests {

	private static final String SWEEP = "/v1/jobs?from=scan&match=cache:*&op=UNLINK";

	private static final int MANY = 20_000;

	/**
	 * The replies that are read before a sweep is held up: pages, of which there are some
	 * 60, and the handshake of a connection or two.
	 */
	private static final int PAGES = 20;

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	private final Jobs jobs;

	SweepFaultTests(Service service, @Autowired Jobs jobs) {
		this.service = service;
		this.jobs = jobs;
	}

	@BeforeEach
	void fillRedis() {
		redis.client().flushall();
		this.service.post(SWEEP).report();
		fill();
	}

	@Test
	void aScanWhoseConnectionBreaksGoesOnFromItsCursor() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, PAGES, 200);
		CompletableFuture<Answer> sweep = start("&dryRun=true");
		place.get(60, TimeUnit.SECONDS).reset();
		JsonNode report = sweep.get(60, TimeUnit.SECONDS).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(MANY, 0, 0, 0, 0, MANY));
		assertThat(report.at("/scan/restarts").asInt(-1)).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "&concurrency=4&batchSize=500" })
	void everyKeyIsRemovedThoughAllConnectionsBreak(String settings) throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 40, 1);
		CompletableFuture<Answer> sweep = start("&retries=5" + settings);
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		redis.client().clientKill(KillArgs.Builder.typeNormal().skipme());
		link.reset();
		Counts counts = Answer.counts(sweep.get(60, TimeUnit.SECONDS).report());
		assertThat(counts.applied()).isEqualTo(counts.received()).isGreaterThanOrEqualTo(MANY);
		assertThat(redis.client().dbsize()).isZero();
	}

	@Test
	void otherClientsMayRemoveAddAndReplaceKeysMeanwhile() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 60, 0);
		CompletableFuture<Answer> sweep = start("&type=string&batchSize=1000");
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		eval("""
				for i = 1, 20000, 10 do redis.call('DEL', 'cache:' .. i) end
				for i = 2, 20000, 10 do
				  redis.call('DEL', 'cache:' .. i)
				  redis.call('RPUSH', 'cache:' .. i, 'v')
				end
				for i = 1, 3000 do redis.call('SET', 'later:' .. i, 'v') end
				for i = 1, 3000 do redis.call('SET', 'cache:later:' .. i, 'v') end
				return 1""");
		link.goOn();
		Counts counts = Answer.counts(sweep.get(60, TimeUnit.SECONDS).report());
		assertThat(counts.applied()).isEqualTo(counts.received());
		List<String> left = redis.client().keys("*");
		assertThat(left.stream().filter((key) -> key.startsWith("later:"))).hasSize(3000);
		assertThat(left.stream().filter((key) -> key.startsWith("cache:") && !key.startsWith("cache:later:")))
			.allMatch((key) -> redis.client().type(key).equals("list"));
	}

	@Test
	void aScanBeginsAgainInANewLifeOfTheServer() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, PAGES, 0);
		CompletableFuture<Answer> sweep = start("&dryRun=true&retries=1");
		place.get(60, TimeUnit.SECONDS);
		// Nobody is to scan the new server before it has its keys.
		proxy.stopAll();
		redis.restart();
		redis.client().flushall();
		fill();
		proxy.heal();
		JsonNode report = sweep.get(60, TimeUnit.SECONDS).report();
		assertThat(report.at("/scan/restarts").asInt()).isEqualTo(1);
		long before = Answer.counts(report).received() - MANY;
		assertThat(before).isBetween(1L, MANY - 1L);
	}

	@Test
	void aServerThatIsAwayIsWaitedForWithARetry() throws Exception {
		double before = retries("unreachable");
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, PAGES, 0);
		CompletableFuture<Answer> sweep = start("&retries=1&dryRun=true&timeout=1m");
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		redis.kill();
		link.goOn();
		await().until(() -> retries("unreachable") > before);
		redis.restart();
		JsonNode report = sweep.get(60, TimeUnit.SECONDS).report();
		assertThat(report.at("/scan/restarts").asInt()).isEqualTo(1);
	}

	@Test
	void aServerThatStaysAwayEndsASweepWithoutRetries() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, PAGES, 0);
		CompletableFuture<Answer> sweep = start("&dryRun=true");
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		redis.kill();
		try {
			link.goOn();
			Answer answer = sweep.get(60, TimeUnit.SECONDS);
			JsonNode job = answer.job(503, "redis-unreachable", "failed");
			assertThat(answer.json().at("/detail").asString()).contains("SCAN");
			assertThat(job.at("/inputComplete").asBoolean(true)).isFalse();
			assertThat(job.at("/nextIndex").asLong(-1)).isEqualTo(Answer.counts(job).received()).isPositive();
		}
		finally {
			redis.restart();
		}
	}

	@Test
	void aSweepThatIsStoppedDoesNotWaitForItsNextKeys() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, PAGES, 0);
		CompletableFuture<Answer> sweep = start("&dryRun=true");
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		await().until(SweepFaultTests::waitsForKeys);
		this.jobs.stopAll();
		JsonNode job = sweep.get(60, TimeUnit.SECONDS).job(503, "shutting-down", "stopped");
		assertThat(job.at("/inputComplete").asBoolean(true)).isFalse();
		assertThat(job.at("/nextIndex").asLong(-1)).isEqualTo(Answer.counts(job).received());
		link.goOn();
	}

	@Test
	void aSweepEndsWithTooManyErrors() {
		redis.client().aclSetuser("default", AclSetuserArgs.Builder.removeCommand(CommandType.UNLINK));
		try {
			JsonNode job = this.service.post(SWEEP + "&maxErrors=10&rateLimit=1000").job(422, "stopped", "stopped");
			assertThat(job.at("/inputComplete").asBoolean(true)).isFalse();
			assertThat(job.at("/items/0/error/code").asString()).isEqualTo("NOPERM");
		}
		finally {
			redis.client().aclSetuser("default", AclSetuserArgs.Builder.allCommands());
		}
		assertThat(redis.client().dbsize()).isEqualTo(MANY);
	}

	@Test
	void aUserWhoMayNotScanIsToldSo() {
		redis.client().aclSetuser("default", AclSetuserArgs.Builder.removeCommand(CommandType.SCAN));
		try {
			Answer answer = this.service.post(SWEEP + "&retries=3");
			JsonNode job = answer.job(503, "redis-refuses", "stopped");
			assertThat(answer.json().at("/detail").asString()).contains("SCAN").contains("NOPERM");
			assertThat(job.at("/nextIndex").asLong(-1)).isZero();
		}
		finally {
			redis.client().aclSetuser("default", AclSetuserArgs.Builder.allCommands());
		}
	}

	@Test
	void withoutInfoAScanThatWasLostBeginsAgain() throws Exception {
		redis.client().aclSetuser("default", AclSetuserArgs.Builder.removeCommand(CommandType.INFO));
		redis.client().clientKill(KillArgs.Builder.typeNormal().skipme());
		try {
			this.service.post(SWEEP + "&limit=1&dryRun=true").report();
			CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, PAGES, 0);
			CompletableFuture<Answer> sweep = start("&dryRun=true");
			place.get(60, TimeUnit.SECONDS).reset();
			JsonNode report = sweep.get(60, TimeUnit.SECONDS).report();
			assertThat(report.at("/scan/restarts").asInt()).isPositive();
			assertThat(Answer.counts(report).received()).isGreaterThan(MANY);
		}
		finally {
			redis.client().aclSetuser("default", AclSetuserArgs.Builder.allCommands());
			redis.client().clientKill(KillArgs.Builder.typeNormal().skipme());
		}
	}

	@Test
	void aServerThatIsBusyIsAskedAgain() throws Exception {
		redis.client().configSet("busy-reply-threshold", "1");
		RedisClient client = RedisClient.create(redis.uri());
		try (StatefulRedisConnection<String, String> script = client.connect()) {
			double before = retries("busy");
			RedisFuture<String> running = script.async().eval("while true do end", ScriptOutputType.STATUS);
			await().until(SweepFaultTests::isBusy);
			CompletableFuture<Answer> sweep = start("&dryRun=true");
			await().until(() -> retries("busy") > before);
			redis.client().scriptKill();
			assertThatThrownBy(running::get).hasMessageContaining("killed");
			JsonNode report = sweep.get(60, TimeUnit.SECONDS).report();
			assertThat(Answer.counts(report)).isEqualTo(new Counts(MANY, 0, 0, 0, 0, MANY));
			assertThat(report.at("/scan/restarts").asInt(-1)).isZero();
		}
		finally {
			client.shutdown();
		}
	}

	private CompletableFuture<Answer> start(String settings) {
		return this.service.sendAsync(this.service.request(SWEEP + settings).POST(BodyPublishers.noBody()));
	}

	private static void fill() {
		eval("for i = 1, 20000 do redis.call('SET', 'cache:' .. i, 'v') end return 1");
	}

	private static void eval(String script) {
		redis.client().eval(script, ScriptOutputType.INTEGER);
	}

	/** Whether a thread that reads the keys of a sweep waits for its next page. */
	private static boolean waitsForKeys() {
		return Thread.getAllStackTraces()
			.values()
			.stream()
			.map((stack) -> Stream.of(stack).map(StackTraceElement::toString).collect(Collectors.joining(" ")))
			.anyMatch((stack) -> stack.contains("KeyPages.await") && stack.contains("LockSupport.park"));
	}

	private static boolean isBusy() {
		try {
			redis.client().get("any");
			return false;
		}
		catch (RedisBusyException ex) {
			return true;
		}
	}

	private double retries(String reason) {
		Answer answer = this.service.get("/actuator/metrics/pipeset.retries?tag=reason:" + reason);
		return (answer.status() == 200) ? answer.json().at("/measurements/0/value").asDouble() : 0;
	}

}
