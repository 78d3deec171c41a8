package io.pipeset.web.fault;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A request with {@code exactlyOnce} that was interrupted is finished by its repeat, also
 * if what the repeat meets is broken.
 */
@ServiceTest
class ExactlyOnceRepeatTests {

	private static final String ONCE = "/v1/jobs?exactlyOnce=true&concurrency=1&batchSize=10&timeout=500ms&retries=0";

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private static int keys;

	private final String key = "key-" + ++keys;

	private final Service service;

	ExactlyOnceRepeatTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		proxy.resetAll();
		this.service.connect();
		redis.client().flushdb();
	}

	/** Its begin() throws REDIS_UNREACHABLE before the mark is read. */
	@Test
	void aRepeatWhileRedisIsDownKeepsTheKey() throws Exception {
		leaveAfterThree();
		proxy.stopAll();
		Answer down = repeat(ONCE, records());
		proxy.heal();
		assertThat(down.status()).as(down.text()).isNotEqualTo(200);
		finishAndCheck(down.text());
	}

	@Test
	void aRepeatWithOtherSettingsKeepsTheKey() throws Exception {
		leaveAfterThree();
		Answer other = repeat(ONCE + "&maxErrors=5", records());
		assertThat(other.status()).as(other.text()).isEqualTo(422);
		finishAndCheck(other.text());
	}

	@Test
	void aRepeatThatIsMalformedKeepsTheKey() throws Exception {
		leaveAfterThree();
		Answer malformed = repeat(ONCE, "[\n");
		assertThat(malformed.status()).as(malformed.text()).isNotEqualTo(409);
		finishAndCheck(malformed.text());
	}

	@Test
	void aRepeatWhoseCallerLeavesAtOnceKeepsTheKey() throws Exception {
		leaveAfterThree();
		Wire second = Wire.post(this.service, ONCE, "Content-Type: application/x-ndjson", "Transfer-Encoding: chunked",
				"Idempotency-Key: " + this.key);
		second.chunk("[\"RPUSH\",");
		await().until(() -> this.service.get("/v1/jobs?state=running").json().get("jobs").size() == 1);
		second.reset();
		await().until(() -> this.service.get("/v1/jobs?state=running").json().get("jobs").size() == 0);
		finishAndCheck("");
	}

	@Test
	void aMarkThatIsGoneKeepsTheKey() throws Exception {
		leaveAfterThree();
		redis.client().del(mark());
		Answer gone = repeat(ONCE, records());
		assertThat(gone.status()).as(gone.text()).isNotEqualTo(200);
		Answer again = repeat(ONCE, records());
		assertThat(redis.client().lrange("l", 0, -1)).as(gone.text() + again.text()).isEqualTo(numbers(3));
	}

	/** The control Redis refuses the write of enterAgain(), which leaves its entry. */
	@Test
	void aRepeatWhileTheControlRedisRefusesDoesNotHoldTheKeyForever() throws Exception {
		leaveAfterThree();
		redis.client().configSet("maxmemory", "1");
		Answer refused = repeat(ONCE, records());
		redis.client().configSet("maxmemory", "0");
		assertThat(refused.status()).as(refused.text()).isEqualTo(503);
		await().atMost(60, TimeUnit.SECONDS).until(() -> repeat(ONCE, records()).status() != 409);
	}

	/** The batch creates the hash anew, with its lane and without an owner. */
	@Test
	void aFlushBeforeALostReplyIsSeen() throws Exception {
		Wire wire = Wire.upload(this.service, ONCE.replace("retries=0", "retries=2"));
		wire.chunk(lines(0, 3));
		await().until(() -> redis.client().llen("l") == 3);
		await().pollDelay(200, TimeUnit.MILLISECONDS).until(() -> true);
		CompletableFuture<ProxyLink> batch = proxy.stopAt(Way.COMMANDS, 0, 0);
		wire.chunk(lines(3, 6));
		ProxyLink link = batch.get(10, TimeUnit.SECONDS);
		redis.client().flushdb();
		CompletableFuture<ProxyLink> replies = proxy.stopAt(Way.REPLIES, 0, 0);
		link.goOn();
		replies.get(10, TimeUnit.SECONDS).end();
		wire.chunk(lines(6, 9)).lastChunk();
		Answer answer = wire.answer();
		// The first three are gone, and the last three were not sent.
		assertThat(redis.client().llen("l")).isEqualTo(3);
		assertThat(answer.status()).as(answer.text()).isEqualTo(502);
	}

	@Test
	void whatRunsWithoutMultiDoesNotRunTwice() throws Exception {
		Wire wire = Wire.upload(this.service, ONCE.replace("retries=0", "retries=2"));
		wire.chunk(lines(0, 3));
		await().until(() -> redis.client().llen("l") == 3);
		await().pollDelay(200, TimeUnit.MILLISECONDS).until(() -> true);
		CompletableFuture<ProxyLink> batch = proxy.stopAt(Way.COMMANDS, 0, 0);
		wire.chunk(lines(3, 13));
		ProxyLink link = batch.get(10, TimeUnit.SECONDS);
		redis.client().aclSetuser("default", AclSetuserArgs.Builder.removeCommand(CommandType.MULTI));
		try {
			// MULTI, and five of the ten pushes
			CompletableFuture<ProxyLink> half = proxy.stopAt(Way.COMMANDS, 6, 0);
			link.goOn();
			ProxyLink cut = half.get(10, TimeUnit.SECONDS);
			await().until(() -> redis.client().llen("l") == 8);
			cut.end();
			wire.lastChunk();
			Answer answer = wire.answer();
			assertThat(redis.client().lrange("l", 0, -1)).as(answer.text()).doesNotHaveDuplicates();
		}
		finally {
			redis.client().aclSetuser("default", AclSetuserArgs.Builder.allCommands());
		}
	}

	/** All ran, and Redis does not say at the end whether it has it. */
	@Test
	void aJobWhoseEndIsNotComparedWaitsForItsRepeat() throws Exception {
		Wire wire = upload();
		wire.chunk(lines(0, 6));
		await().until(() -> redis.client().llen("l") == 6);
		await().pollDelay(200, TimeUnit.MILLISECONDS).until(() -> true);
		proxy.stopAll();
		wire.lastChunk();
		Answer answer = wire.answer();
		// As a restart from an old snapshot.
		redis.client().ltrim("l", 0, -2);
		proxy.heal();
		assertThat(answer.text()).contains("interrupted");
	}

	/** Redis has rejected a record, which then lacks in the digest of the resumed run. */
	@Test
	void anUploadWithRejectedRecordsIsResumed() throws Exception {
		redis.client().set("s", "v");
		String location = interruptAsync("", "[\"RPUSH\",\"s\",1]\n" + lines(0, 40));
		await().pollInterval(1, TimeUnit.SECONDS).atMost(15, TimeUnit.SECONDS).until(() -> {
			this.service.post(location + "/resume");
			return !List.of("queued", "running", "interrupted").contains(state(location));
		});
		assertThat(redis.client().lrange("l", 0, -1)).as(this.service.get(location).text()).isEqualTo(numbers(40));
	}

	@Test
	void anUploadWithoutRejectedRecordsIsResumed() throws Exception {
		String location = interruptAsync("", lines(0, 40));
		assertThat(this.service.post(location + "/resume").status()).isEqualTo(202);
		await().until(() -> !List.of("queued", "running").contains(state(location)));
		assertThat(redis.client().lrange("l", 0, -1)).as(this.service.get(location).text()).isEqualTo(numbers(40));
	}

	@Test
	void theRepeatOfAResumedUploadGetsItsAnswer() throws Exception {
		String location = interruptAsync(this.key, lines(0, 40));
		assertThat(this.service.post(location + "/resume").status()).isEqualTo(202);
		await().until(() -> state(location).equals("completed"));
		await().atMost(20, TimeUnit.SECONDS)
			.until(() -> this.service
				.send(this.service
					.uploading(ONCE + "&rateLimit=20", Service.NDJSON,
							Lines.of(40L, (i) -> "[\"RPUSH\",\"l\"," + i + "]"))
					.header("Prefer", "respond-async")
					.header("Idempotency-Key", this.key))
				.status() != 409);
	}

	/** Redis falls silent at each message of the resumed run. */
	@ParameterizedTest
	@ValueSource(ints = { 2, 4, 5, 6, 7, 8 })
	void aResumedUploadThatCannotTakeTheMarkOverStaysInterrupted(int messages) throws Exception {
		String location = interruptAsync("", lines(0, 40));
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, messages, 0);
		CompletableFuture<Void> unused = place.thenRun(() -> new Thread(proxy::stopAll).start());
		Answer resumed = this.service.post(location + "/resume");
		if (resumed.status() == 202) {
			await().until(() -> !List.of("queued", "running").contains(state(location)));
		}
		proxy.heal();
		assertThat(state(location)).as(this.service.get(location).text()).isIn("interrupted", "completed");
	}

	@Test
	void theMarkOfACancelledInterruptedUploadExpires() throws Exception {
		String location = interruptAsync("", lines(0, 40));
		this.service.delete(location);
		await().until(() -> state(location).equals("cancelled"));
		assertThat(redis.client().keys("pipeset:once:*")).allMatch((mark) -> redis.client().pttl(mark) > 0);
	}

	/** A repeat would close connections that other jobs use by then. */
	@Test
	void aProcessThatLeavesAJobTakesItsConnectionsOutOfTheMark() throws Exception {
		leaveAfterThree();
		assertThat(redis.client().hkeys(mark())).noneMatch((field) -> field.startsWith("connection:"));
	}

	/** The process lives on, and knows the keys of all other jobs of its own. */
	@Test
	void aRepeatRunsNothingTwiceWhenTheControlRedisIsEmptied() throws Exception {
		leaveAfterThree();
		try (RedisClient client = RedisClient.create(redis.controlUri())) {
			client.connect().sync().flushdb();
		}
		finishAndCheck("");
	}

	/** The HSET that creates the mark is late, and comes again behind the batches. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2, 3, 4 })
	void aLateCreationOfTheMarkDoesNotResetIt(int messages) throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.COMMANDS, messages, 0);
		String call = ONCE.replace("timeout=500ms&retries=0", "timeout=30s&retries=3");
		Wire wire = Wire.post(this.service, call, "Content-Type: application/x-ndjson", "Transfer-Encoding: chunked",
				"Idempotency-Key: " + this.key);
		wire.chunk(lines(0, 6));
		ProxyLink held = place.get(10, TimeUnit.SECONDS);
		await().until(() -> redis.client().llen("l") == 6);
		held.goOn();
		await().pollDelay(500, TimeUnit.MILLISECONDS).until(() -> true);
		wire.lastChunk();
		Answer answer = wire.answer();
		await().pollInterval(100, TimeUnit.MILLISECONDS).until(() -> repeat(call, records()).status() == 200);
		assertThat(redis.client().lrange("l", 0, -1)).as(answer.text()).isEqualTo(numbers(6));
	}

	@ParameterizedTest
	@ValueSource(strings = { "MULTI", "EXEC", "HSET", "CLIENT", "HGETALL", "INFO" })
	void whatIsForbiddenInTheMiddleLeavesNothingUnknown(String command) throws Exception {
		Wire wire = Wire.upload(this.service, ONCE.replace("retries=0", "retries=2"));
		wire.chunk(lines(0, 3));
		await().until(() -> redis.client().llen("l") == 3);
		await().pollDelay(200, TimeUnit.MILLISECONDS).until(() -> true);
		redis.client().aclSetuser("default", AclSetuserArgs.Builder.removeCommand(CommandType.valueOf(command)));
		try {
			wire.chunk(lines(3, 6));
			await().pollDelay(500, TimeUnit.MILLISECONDS).until(() -> true);
			wire.chunk(lines(6, 9)).lastChunk();
			Answer answer = wire.answer();
			JsonNode json = (answer.json().has("job")) ? answer.json().get("job") : answer.json();
			assertThat(Answer.counts(json).unknown()).as(answer.text()).isZero();
			assertThat(redis.client().llen("l")).as(answer.text()).isEqualTo(Answer.counts(json).applied());
		}
		finally {
			redis.client().aclSetuser("default", AclSetuserArgs.Builder.allCommands());
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "&retries=0", "&retries=1", "&retries=5" })
	void withoutMemoryNothingIsUnknown(String retries) throws Exception {
		Wire wire = Wire.upload(this.service, ONCE.replace("&retries=0", retries));
		wire.chunk(lines(0, 3));
		await().until(() -> redis.client().llen("l") == 3);
		await().pollDelay(200, TimeUnit.MILLISECONDS).until(() -> true);
		redis.client().set("d0", "v");
		redis.client().configSet("maxmemory", "1");
		try {
			wire.chunk("[\"DEL\",\"d0\"]\n[\"DEL\",\"d1\"]\n").lastChunk();
			Answer answer = wire.answer();
			assertThat(answer.text()).doesNotContain("EXECABORT");
		}
		finally {
			redis.client().configSet("maxmemory", "0");
		}
	}

	private void finishAndCheck(String before) {
		await().pollInterval(100, TimeUnit.MILLISECONDS).until(() -> repeat(ONCE, records()).status() != 409);
		assertThat(redis.client().lrange("l", 0, -1)).as(before).isEqualTo(numbers(6));
	}

	/** Sends three of six records, then the caller leaves. */
	private void leaveAfterThree() throws Exception {
		Wire wire = upload();
		wire.chunk(lines(0, 3));
		await().until(() -> redis.client().llen("l") == 3);
		wire.reset();
		await().until(() -> this.service.get("/v1/jobs?state=running").json().get("jobs").size() == 0);
		await().until(() -> this.service.get("/v1/jobs?state=interrupted").text().contains("jobId"));
	}

	private Wire upload() throws Exception {
		return Wire.post(this.service, ONCE, "Content-Type: application/x-ndjson", "Transfer-Encoding: chunked",
				"Idempotency-Key: " + this.key);
	}

	private Answer repeat(String call, String body) {
		return this.service.send(this.service
			.uploading(call, Service.NDJSON, new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)))
			.header("Idempotency-Key", this.key));
	}

	/** Redis is silent in the middle of an asynchronous upload. */
	private String interruptAsync(String key, String body) throws Exception {
		var request = this.service
			.uploading(ONCE + "&rateLimit=20", Service.NDJSON,
					new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)))
			.header("Prefer", "respond-async");
		String location = this.service.send((key.isEmpty()) ? request : request.header("Idempotency-Key", key))
			.header("Location");
		await().until(() -> redis.client().llen("l") >= 10);
		proxy.stopAll();
		await().until(() -> state(location).equals("interrupted"));
		proxy.heal();
		await().pollDelay(500, TimeUnit.MILLISECONDS).until(() -> true);
		return location;
	}

	private String state(String location) {
		return this.service.get(location).json().at("/state").asString();
	}

	private static String records() {
		return lines(0, 6);
	}

	private static String lines(int from, int to) {
		StringBuilder lines = new StringBuilder();
		IntStream.range(from, to).forEach((i) -> lines.append("[\"RPUSH\",\"l\",").append(i).append("]\n"));
		return lines.toString();
	}

	private static String mark() {
		return redis.client().keys("pipeset:once:*").get(0);
	}

	private static List<String> numbers(int count) {
		return IntStream.range(0, count).mapToObj(Integer::toString).toList();
	}

}
