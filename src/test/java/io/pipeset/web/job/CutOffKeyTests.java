package io.pipeset.web.job;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.keep.JobRecorder;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.TwoInstances;
import io.pipeset.service.Wire;
import io.pipeset.web.document.Examples;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests with an Idempotency-Key while instances are cut off from the control Redis.
 */
@ServiceTest(properties = "pipeset.control.timeout=1s")
class CutOffKeyTests extends KeyedCalls {

	/** The second instance tells soon that a lease is over. */
	@RegisterExtension
	static final TwoInstances two = TwoInstances.start("pipeset.jobs.lease=1500ms", "pipeset.control.timeout=1s");

	private static final TestRedis control = two.control();

	private static final FaultProxy proxy = two.proxy();

	private static final Replica replica = two.replica();

	private final JobRecorder recorder;

	CutOffKeyTests(Service service, @Autowired JobRecorder recorder) {
		super(service);
		this.recorder = recorder;
	}

	@Test
	void aKeyWhoseInstanceWasGoneAheadOfItsRecordRunsNothingAndNamesNoJob() {
		control.client().flushall();
		send(this.here, "/v1/jobs", PUSH).report();
		String name = control.client().keys("pipeset:key:*").get(0);
		control.client().set(name, UUID.randomUUID().toString());
		Answer refused = send(replica.service(), "/v1/jobs", PUSH);
		assertThat(refused.refusal(409, "interrupted")).contains("whose record no longer exists", "new key");
		assertThat(refused.headers().firstValue("Location")).isEmpty();
		assertThat(this.redis.llen("list")).isOne();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void withoutTheControlRedisNothingIsRun(boolean asynchronous) {
		send(this.here, "/v1/jobs?dryRun=true", PUSH);
		proxy.stopAll();
		HttpRequest.Builder request = request(this.here, "/v1/jobs").header("Content-Type", Service.NDJSON);
		if (asynchronous) {
			request.header("Prefer", "respond-async");
		}
		Answer refused = this.here.send(request.POST(BodyPublishers.ofString(PUSH)));
		assertThat(Examples.check(503, "control-unreachable", refused).refusal(503, "control-unreachable"))
			.contains("Nothing was run", "with the same key");
		assertThat(refused.header("Retry-After")).matches("[1-9][0-9]*");
		assertThat(this.redis.exists("list")).isZero();
		this.here.post("/v1/jobs", Service.NDJSON, PUSH).report();
		proxy.heal();
		await().until(() -> send(this.here, "/v1/jobs", PUSH).status() == 200);
		assertThat(this.redis.llen("list")).isEqualTo(2);
	}

	@Test
	void aClaimWhoseAnswerIsLostIsGivenBack() throws Exception {
		send(this.here, "/v1/jobs?dryRun=true", PUSH);
		// The claim is made, and its reply does not come.
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 1, 0);
		send(this.here, "/v1/jobs", PUSH).refusal(503, "control-unreachable");
		place.get(1, TimeUnit.MINUTES).goOn();
		proxy.heal();
		await().until(() -> send(replica.service(), "/v1/jobs", PUSH).status() == 200);
		assertThat(this.redis.llen("list")).isOne();
	}

	@Test
	void aRunThatWroteNothingIsReportedThoughTheControlRedisIsLostAndItsKeyIsGivenBackLater() throws Exception {
		try (Wire first = open(this.here, "/v1/jobs?dryRun=true")) {
			first.chunk(PUSH);
			await().until(() -> this.here.get("/v1/jobs?state=running").json().get("jobs").size() == 1);
			send(replica.service(), "/v1/jobs", PUSH).refusal(409, "idempotency-key-in-use");
			proxy.stopAll();
			Answer answer = first.chunk(PUSH).lastChunk().answer();
			assertThat(answer.status()).as(answer.text()).isEqualTo(200);
			assertThat(answer.json().at("/counts/unprocessed").asInt()).isEqualTo(2);
			assertThat(answer.json().at("/warnings").toString()).contains("NOT_RECORDED");
		}
		proxy.heal();
		await().until(() -> send(replica.service(), "/v1/jobs", PUSH).status() == 200);
		assertThat(this.redis.llen("list")).isOne();
	}

	@Test
	void requestsThatAreRefusedMeanwhileCostNoAnswerThatWaitsForTheControlRedis() throws Exception {
		try (Wire first = open(this.here)) {
			first.chunk(PUSH);
			await().until(() -> this.redis.llen("list") == 1);
			proxy.stopAll();
			String kept = this.key;
			for (int i = 0; i < 80; i++) {
				this.key = UUID.randomUUID().toString();
				send(this.here, "/v1/jobs", PUSH).refusal(503, "control-unreachable");
			}
			this.key = kept;
			assertThat(first.lastChunk().answer().json().at("/warnings").toString()).contains("not kept for repeats");
		}
		proxy.heal();
		await().untilAsserted(() -> assertThat(send(replica.service(), "/v1/jobs", PUSH).status()).isEqualTo(200));
		assertThat(this.redis.llen("list")).isOne();
	}

	@Test
	void aStepThatIsRefusedKeepsNoOtherJobFromBeingRecorded() throws Exception {
		RedisCommands<String, String> records = control.client();
		Set<String> before = Set.copyOf(records.keys("pipeset:key:*"));
		try (Wire first = open(this.here, "/v1/jobs?dryRun=true")) {
			first.chunk(PUSH);
			await().until(() -> this.here.get("/v1/jobs?state=running").json().get("jobs").size() == 1);
			String name = records.keys("pipeset:key:*")
				.stream()
				.filter((found) -> !before.contains(found))
				.findFirst()
				.orElseThrow();
			records.del(name);
			records.lpush(name, "of somebody else");
			assertThat(first.lastChunk().answer().json().at("/warnings").toString()).contains("WRONGTYPE");
			String job = this.here
				.send(this.here.request("/pipeset/2?rateLimit=1")
					.header("Prefer", "respond-async")
					.POST(BodyPublishers.noBody()))
				.header("Location");
			await().untilAsserted(
					() -> assertThat(replica.service().get(job).json().get("state").asString()).isEqualTo("completed"));
			records.del(name);
		}
	}

	@Test
	void theRecordOfARefusedRequestIsRemovedThoughNobodyHeardThatItWasWritten() throws Exception {
		// The policy is asked for now, and not again within a minute.
		ReflectionTestUtils.setField(ReflectionTestUtils.getField(this.recorder, "redis"), "storage", null);
		await().until(() -> send(this.here, "/v1/jobs?dryRun=true", PUSH).status() == 200);
		control.client().flushall();
		// The recorder stands, because its replies would be counted.
		CountDownLatch stands = new CountDownLatch(1);
		CompletableFuture<ProxyLink> unheard = new CompletableFuture<ProxyLink>().orTimeout(1, TimeUnit.MINUTES);
		this.recorder.later(() -> {
			stands.countDown();
			unheard.join();
		});
		assertThat(stands.await(1, TimeUnit.MINUTES)).isTrue();
		// The key is looked for, and the record is written unheard.
		CompletableFuture<?> place = proxy.stopAt(Way.REPLIES, 2, 0).thenAccept(unheard::complete);
		send(this.here, "/v1/jobs", PUSH).refusal(503, "control-unreachable");
		place.get(1, TimeUnit.MINUTES);
		proxy.heal();
		await().until(() -> control.client().keys("pipeset:*").isEmpty());
	}

}
