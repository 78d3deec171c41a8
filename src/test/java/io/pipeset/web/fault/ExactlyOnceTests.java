package io.pipeset.web.fault;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

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
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * With {@code exactlyOnce}, each record runs once, wherever a connection is lost. The
 * tests count messages, so that only the job may send any.
 */
@ServiceTest
class ExactlyOnceTests {

	private static final int BATCH = 10;

	private static final String ONCE = "/v1/jobs?exactlyOnce=true&concurrency=1&batchSize=" + BATCH;

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy().as("service");

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	ExactlyOnceTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		proxy.resetAll();
		this.service.connect();
		redis.client().flushall();
		own.permitAll();
	}

	@Test
	void eachRecordRunsAndTheMarkExpires() {
		Answer answer = this.service.upload("/v1/jobs?exactlyOnce=true&batchSize=7", Service.NDJSON,
				Lines.of(1000L, (i) -> "[\"INCR\",\"n" + i % 10 + "\"]"));
		JsonNode report = answer.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1000, 1000, 0, 0, 0, 0));
		assertThat(report.at("/settings/exactlyOnce").asBoolean()).isTrue();
		assertThat(report.at("/settings/concurrency").asInt()).isEqualTo(4);
		assertThat(IntStream.range(0, 10).mapToObj((i) -> redis.client().get("n" + i))).containsOnly("100");
		String mark = mark();
		assertThat(redis.client().pttl(mark)).isPositive();
		assertThat(redis.client().hgetall(mark)).containsKeys("owner", "0", "1", "2", "3");
	}

	private static String mark() {
		List<String> marks = redis.client().keys("pipeset:once:*");
		assertThat(marks).hasSize(1);
		return marks.get(0);
	}

	@Test
	void aMarkThatIsRemovedStopsTheJob() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.COMMANDS, 22, 0);
		CompletableFuture<Answer> answer = this.service.sendAsync(this.service.uploading(ONCE, Service.NDJSON,
				Lines.of(3L * BATCH, (i) -> "[\"RPUSH\",\"l\"," + i + "]")));
		ProxyLink link = place.get(30, TimeUnit.SECONDS);
		redis.client().flushall();
		link.goOn();
		JsonNode job = answer.get(30, TimeUnit.SECONDS).job(502, "redis-lost", "failed");
		Counts counts = Answer.counts(job);
		assertThat(counts.unknown()).isZero();
		assertThat(counts.unprocessed()).isEqualTo(3L * BATCH - counts.applied()).isPositive();
	}

	@Test
	void aRedisThatMayEvictTheMarkIsRefused() {
		redis.client().configSet("maxmemory-policy", "allkeys-lru");
		try {
			assertThat(this.service.ndjson("/v1/jobs?exactlyOnce=true", "[\"INCR\",\"n\"]")
				.refusal(400, "invalid-setting")).contains("allkeys-lru");
		}
		finally {
			redis.client().configSet("maxmemory-policy", "noeviction");
		}
	}

	@Test
	void nothingRunsWithoutThePermissionToEndConnections() {
		own.forbid(CommandType.CLIENT);
		JsonNode job = this.service.ndjson("/v1/jobs?exactlyOnce=true", "[\"INCR\",\"n\"]").json().get("job");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(0, 0, 0, 0, 0, 0));
		assertThat(redis.client().exists("n")).isZero();
	}

	/** The messages of the checks, of the mark, and of three batches with 13 each. */
	static Stream<Arguments> places() {
		return Stream.of(Way.values())
			.flatMap((way) -> IntStream.range(0, 50)
				.boxed()
				.flatMap((message) -> Stream.of(0, 3).map((bytes) -> Arguments.of(way, message, bytes))));
	}

	@ParameterizedTest
	@MethodSource("places")
	void aBatchThatIsCutRunsOnce(Way way, int messages, int bytes) throws Exception {
		Answer answer = cut("&retries=2", way, messages, bytes);
		assertThat(answer.status()).as(answer.text()).isEqualTo(200);
		assertThat(Answer.counts(answer.json())).isEqualTo(new Counts(3 * BATCH, 3 * BATCH, 0, 0, 0, 0));
		assertThat(redis.client().lrange("l", 0, -1)).isEqualTo(numbers(3 * BATCH));
	}

	@ParameterizedTest
	@MethodSource("places")
	void withoutRetriesTheBatchIsKnownAsWell(Way way, int messages, int bytes) throws Exception {
		Answer answer = cut("&results=none", way, messages, bytes);
		JsonNode json = (answer.json().has("job")) ? answer.json().get("job") : answer.json();
		if (json.has("counts")) {
			Counts counts = Answer.counts(json);
			assertThat(counts.unknown()).as(answer.text()).isZero();
			assertThat(redis.client().lrange("l", 0, -1)).isEqualTo(numbers((int) counts.applied()));
		}
		else {
			assertThat(redis.client().exists("l")).as(answer.text()).isZero();
		}
	}

	/** The messages of a new connection to Redis, and of the mark. */
	static Stream<Arguments> beginnings() {
		return Stream.of(Way.values())
			.flatMap((way) -> IntStream.range(0, 20).mapToObj((message) -> Arguments.of(way, message)));
	}

	@ParameterizedTest
	@MethodSource("beginnings")
	void aConnectionThatIsCutWhileItIsOpenedIsReplaced(Way way, int messages) throws Exception {
		proxy.resetAll();
		await().until(() -> proxy.links() == 0);
		Answer answer = cut("&retries=2", way, messages, 3);
		assertThat(Answer.counts(answer.report())).isEqualTo(new Counts(3 * BATCH, 3 * BATCH, 0, 0, 0, 0));
		assertThat(redis.client().lrange("l", 0, -1)).isEqualTo(numbers(3 * BATCH));
	}

	@Test
	void repliesThatAreLostAreToldInAWarning() throws Exception {
		JsonNode report = cut("&retries=1", Way.REPLIES, 30, 0).report();
		assertThat(report.at("/warnings/0/code").asString()).isEqualTo("REPLIES_LOST");
	}

	/** Such a server does not answer INFO. */
	@Test
	void aBusyServerIsWaitedFor() throws Exception {
		redis.client().configSet("busy-reply-threshold", "1");
		RedisClient client = RedisClient.create(redis.uri());
		try (StatefulRedisConnection<String, String> script = client.connect();
				Wire upload = this.service.keep(Wire.upload(this.service, ONCE + "&retries=10&timeout=60s"))) {
			upload.chunk(pushes("l"));
			String job = this.service.awaitJob("running");
			await().until(() -> this.service.get("/v1/jobs/" + job).json().at("/counts/applied").asInt() == BATCH);
			proxy.resetAll();
			double before = retries();
			RedisFuture<String> running = script.async().eval("while true do end", ScriptOutputType.STATUS);
			await().until(ExactlyOnceTests::isBusy);
			try {
				upload.chunk(pushes("l"));
				await().until(() -> retries() > before);
			}
			finally {
				redis.client().scriptKill();
			}
			assertThatThrownBy(running::get).hasMessageContaining("killed");
			JsonNode report = upload.lastChunk().answer().report();
			assertThat(Answer.counts(report)).isEqualTo(new Counts(2 * BATCH, 2 * BATCH, 0, 0, 0, 0));
		}
		finally {
			client.shutdown();
		}
	}

	private double retries() {
		Answer metric = this.service.get("/actuator/metrics/pipeset.retries");
		return (metric.status() == 200) ? metric.json().at("/measurements/0/value").asDouble() : 0;
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

	/** The mark that a lane has read then knows nothing of that batch. */
	@Test
	void aBatchOfAnotherLaneMayRunWhileTheMarkIsRead() throws Exception {
		String a = "a";
		String b = Stream.of("b", "c", "d", "e", "f", "g")
			.filter((key) -> lane(key) != lane(a))
			.findFirst()
			.orElseThrow();
		redis.client().flushall();
		try (Wire upload = this.service
			.keep(Wire.upload(this.service, ONCE.replace("concurrency=1", "concurrency=2") + "&retries=1"))) {
			upload.chunk(pushes(b));
			await().until(() -> redis.client().llen(b) == BATCH);
			upload.chunk(pushes(a));
			await().until(() -> redis.client().llen(a) == BATCH);
			CompletableFuture<ProxyLink> batch = proxy.stopAt(Way.REPLIES, BATCH + 2, 0);
			upload.chunk(pushes(a));
			ProxyLink first = batch.get(30, TimeUnit.SECONDS);
			// Behind those of the fence.
			CompletableFuture<ProxyLink> mark = proxy.stopAt(Way.REPLIES, 2, 0);
			first.end();
			ProxyLink second = mark.get(30, TimeUnit.SECONDS);
			upload.chunk(pushes(b));
			String job = this.service.awaitJob("running");
			await().until(() -> this.service.get("/v1/jobs/" + job).json().at("/counts/applied").asInt() == 3 * BATCH);
			second.goOn();
			JsonNode report = upload.lastChunk().answer().report();
			assertThat(Answer.counts(report)).isEqualTo(new Counts(4 * BATCH, 4 * BATCH, 0, 0, 0, 0));
		}
	}

	private int lane(String key) {
		redis.client().flushall();
		this.service.post("/v1/jobs?exactlyOnce=true&concurrency=2", Service.NDJSON, pushes(key)).report();
		return redis.client().hget(mark(), "0").startsWith("0000000000000000") ? 1 : 0;
	}

	private static String pushes(String key) {
		return ("[\"RPUSH\",\"" + key + "\",\"v\"]\n").repeat(BATCH);
	}

	@Test
	void whatRedisRefusesToQueueIsRejectedAndTheOthersRun() {
		own.forbid(CommandType.SADD);
		JsonNode report = this.service
			.upload(ONCE, Service.NDJSON,
					Lines.of(30L, (i) -> (i % 3 == 2) ? "[\"SADD\",\"s\"," + i + "]" : "[\"RPUSH\",\"l\"," + i + "]"))
			.json();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(30, 20, 0, 10, 0, 0));
		assertThat(report.at("/errorCodes/NOPERM").asInt()).isEqualTo(10);
		assertThat(redis.client().lrange("l", 0, -1))
			.isEqualTo(IntStream.range(0, 30).filter((i) -> i % 3 != 2).mapToObj(Integer::toString).toList());
	}

	@Test
	void whatFailsWithinTheBatchIsRejectedAndTheOthersRun() {
		redis.client().set("s", "v");
		JsonNode report = this.service
			.upload(ONCE, Service.NDJSON,
					Lines.of(30L, (i) -> "[\"RPUSH\",\"" + ((i % 3 == 2) ? "s" : "l") + "\"," + i + "]"))
			.json();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(30, 20, 0, 10, 0, 0));
		assertThat(redis.client().llen("l")).isEqualTo(20);
	}

	@Test
	void anHsetWithAnExpiryRuns() {
		JsonNode report = this.service
			.upload("/v1/jobs?exactlyOnce=true&op=HSET&ttl=100", Service.NDJSON,
					Lines.of(30L, (i) -> "{\"op\":\"HSET\",\"key\":\"h" + i + "\",\"fields\":{\"a\":\"1\"}}"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(30, 30, 0, 0, 0, 0));
		assertThat(redis.client().ttl("h7")).isPositive();
	}

	@ParameterizedTest
	@ValueSource(strings = { "atomic=batch", "replicas=1", "batchSize=501", "op=SET&ttl=10&ttlJitter=10", "op=RPOP" })
	void whatCannotRunExactlyOnceIsRefused(String settings) {
		assertThat(this.service.post("/v1/jobs?exactlyOnce=true&" + settings, Service.NDJSON, "")
			.refusal(400, "invalid-setting")).contains("exactlyOnce");
	}

	@ParameterizedTest
	@ValueSource(strings = { "[\"RPOP\",\"l\"]", "[\"SPOP\",\"s\"]", "[\"GETDEL\",\"k\"]",
			"[\"SET\",\"k\",\"v\",\"GET\"]", "[\"ZPOPMIN\",\"z\"]" })
	void aRecordWhoseReplyHoldsDataIsRejected(String record) {
		JsonNode report = this.service.post("/v1/jobs?exactlyOnce=true", Service.NDJSON, record + "\n").json();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
		assertThat(report.at("/errorCodes/FORBIDDEN").asInt()).isEqualTo(1);
	}

	/** Sends three batches, and breaks the connection. */
	private Answer cut(String settings, Way way, int messages, int bytes) throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(way, messages, bytes);
		CompletableFuture<Answer> answer = this.service.sendAsync(this.service.uploading(ONCE + settings,
				Service.NDJSON, Lines.of(3L * BATCH, (i) -> "[\"RPUSH\",\"l\"," + i + "]")));
		// The place may be after the last message of a connection.
		CompletableFuture.anyOf(place, answer).get(30, TimeUnit.SECONDS);
		if (place.isDone() && way == Way.REPLIES) {
			place.get().end();
		}
		else if (place.isDone()) {
			place.get().reset();
		}
		return answer.get(30, TimeUnit.SECONDS);
	}

	private static List<String> numbers(int count) {
		return IntStream.range(0, count).mapToObj(Integer::toString).toList();
	}

}
