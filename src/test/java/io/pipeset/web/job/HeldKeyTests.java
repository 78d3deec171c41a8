package io.pipeset.web.job;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.OwnThread;
import io.pipeset.keep.control.ControlRedis;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.TwoInstances;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A key holds as long as its job or its answer lives somewhere, whatever happens to the
 * control Redis meanwhile.
 */
@ServiceTest(
		properties = { "pipeset.jobs.lease=10s", "pipeset.control.timeout=1s", "pipeset.limits.max-running-jobs=200" })
@ExtendWith(OutputCaptureExtension.class)
class HeldKeyTests extends KeyedCalls {

	@RegisterExtension
	static final TwoInstances two = TwoInstances.start("pipeset.jobs.lease=10s", "pipeset.control.timeout=1s");

	private static final TestRedis control = two.control();

	private static final FaultProxy proxy = two.proxy();

	private static final Replica replica = two.replica();

	private final RedisCommands<String, String> records = control.client();

	private final ControlRedis controlRedis;

	HeldKeyTests(Service service, @Autowired ControlRedis controlRedis) {
		super(service);
		this.controlRedis = controlRedis;
	}

	@BeforeEach
	void empty() {
		this.records.flushall();
		// Each knows the control Redis, and has a lease there.
		List.of(this.here, replica.service())
			.forEach((service) -> await().until(() -> send(service, "/v1/jobs?dryRun=true", PUSH).status() == 200));
		await().until(() -> this.records.get(keyName()) == null);
	}

	/** The name of the key in the control Redis. */
	private String keyName() {
		try {
			byte[] hash = MessageDigest.getInstance("SHA-256").digest(this.key.getBytes(StandardCharsets.UTF_8));
			return TestRedis.shared().controlKey("key", HexFormat.of().formatHex(hash));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aKeyHoldsWhileItsJobRunsAndWhenItHasEnded(Fault fault) throws Exception {
		try (Wire first = open(this.here)) {
			first.chunk(PUSH);
			await().until(() -> this.redis.llen("list") == 1);
			fault.strike();
			Answer refused = send(this.here, "/v1/jobs", PUSH);
			assertThat(refused.refusal(409, "idempotency-key-in-use")).contains("still runs");
			assertThat(refused.header("Retry-After")).isEqualTo("1");
			assertNothingIsSaidForGoodElsewhere(fault);
			fault.lift();
			await().ignoreExceptions().until(() -> this.records.get(keyName()) != null);
			for (Service service : List.of(this.here, replica.service())) {
				reached(service).refusal(409, "idempotency-key-in-use");
			}
			fault.strike();
			String job = first.lastChunk().answer().report().get("jobId").asString();
			assertReplayed(job, send(this.here, "/v1/jobs", PUSH));
			assertNothingIsSaidForGoodElsewhere(fault);
			fault.lift();
			await().ignoreExceptions()
				.until(() -> this.records.hget(TestRedis.shared().controlKey("job", job), "request") != null);
			assertReplayed(job, reached(replica.service()));
			assertReplayed(job, reached(this.here));
		}
		assertThat(this.redis.llen("list")).isOne();
	}

	private void assertNothingIsSaidForGoodElsewhere(Fault fault) {
		if (fault.forgets) {
			// Nobody there can tell a repeat from a first request.
			return;
		}
		Answer answer = send(replica.service(), "/v1/jobs", PUSH);
		assertThat(answer.json().get("type").asString()).as(answer.text())
			.isIn("urn:pipeset:problem:control-unreachable", "urn:pipeset:problem:idempotency-key-in-use");
		assertThat(answer.header("Retry-After")).isNotEmpty();
	}

	private static void assertReplayed(String job, Answer answer) {
		assertThat(answer.report().get("jobId").asString()).isEqualTo(job);
		assertThat(answer.header("Idempotency-Replayed")).isEqualTo("true");
		assertThat(answer.text()).doesNotContain("NOT_RECORDED");
	}

	/** The answer of an instance that reaches the control Redis. */
	private Answer reached(Service service) {
		return await().until(() -> send(service, "/v1/jobs", PUSH), (answer) -> answer.status() != 503);
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "EMPTIED")
	void withoutAClaimNothingRuns(Fault fault) {
		fault.strike();
		for (Service service : List.of(this.here, replica.service())) {
			send(service, "/v1/jobs", PUSH).refusal(503, "control-unreachable");
		}
		assertThat(this.redis.exists("list")).isZero();
		fault.lift();
		String job = reached(this.here).report().get("jobId").asString();
		assertReplayed(job, reached(replica.service()));
		assertThat(this.redis.llen("list")).isOne();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "EMPTIED")
	void aJobWhoseFirstWriteCannotBeToldWritesNothing(Fault fault) throws Exception {
		try (Wire first = open(this.here)) {
			await().until(() -> this.records.get(keyName()) != null);
			fault.strike();
			Answer answer = first.chunk(PUSH).answer();
			answer.job(503, "control-unreachable", "failed");
			assertThat(answer.json().get("detail").asString()).contains("Nothing was run", "with the same key");
			assertThat(answer.header("Retry-After")).isNotEmpty();
		}
		try (Wire first = openAfter(fault)) {
			fault.strike();
			assertThat(first.lastChunk().answer().refusal(503, "control-unreachable")).contains("Nothing was run",
					"with the same key");
		}
		fault.lift();
		assertThat(this.redis.exists("list")).isZero();
		await("is given back").until(() -> send(replica.service(), "/v1/jobs", PUSH).status() == 200);
		assertThat(this.redis.llen("list")).isOne();
	}

	/** An asynchronous upload, whose body is on its way. */
	private Wire openAfter(Fault fault) throws Exception {
		fault.lift();
		await().ignoreExceptions().until(() -> this.records.get(keyName()) == null);
		await().until(() -> send(this.here, "/v1/jobs?dryRun=true", PUSH).status() == 200);
		Wire first = open(this.here, "/v1/jobs", "Prefer: respond-async");
		first.chunk(PUSH);
		await().until(() -> this.records.get(keyName()) != null);
		return first;
	}

	@Test
	void aLeaseThatIsMissingAfterAnOutageIsNoDeath() throws Exception {
		try (Wire first = open(this.here)) {
			first.chunk(PUSH);
			await().until(() -> this.redis.llen("list") == 1);
			two.cutOff();
			await().until(() -> replica.service()
				.get("/actuator/pipeset")
				.json()
				.at("/control/state")
				.asString()
				.equals("down"));
			// As if it had lasted for longer than the lease.
			this.records.keys("pipeset:job:*").forEach((record) -> this.records.hset(record, "seen", "0"));
			replica.proxy().heal();
			Answer repeat = reached(replica.service());
			repeat.refusal(409, "idempotency-key-in-use");
			assertThat(repeat.header("Retry-After")).isEqualTo("1");
			assertThat(replica.service().get(repeat.header("Location")).json().get("state").asString()).isIn("queued",
					"running");
			proxy.heal();
			String job = first.lastChunk().answer().report().get("jobId").asString();
			await().untilAsserted(() -> assertReplayed(job, send(replica.service(), "/v1/jobs", PUSH)));
		}
		assertThat(this.redis.llen("list")).isOne();
	}

	@Test
	void aRunWhoseInstanceIsGoneIsNeverRunAgain() throws Exception {
		try (Wire first = open(replica.service())) {
			first.chunk(PUSH);
			await().until(() -> this.redis.llen("list") == 1);
			goneForHere();
			Answer repeat = send(this.here, "/v1/jobs", PUSH);
			assertThat(repeat.refusal(409, "interrupted")).contains("Nothing was run", "may have run in part",
					"send only the records that did not run");
			assertThat(repeat.headers().firstValue("Retry-After")).isEmpty();
			assertThat(this.here.get(repeat.header("Location")).json().get("state").asString())
				.isEqualTo("interrupted");
			Answer answer = first.lastChunk().answer();
			assertThat(answer.report().at("/counts/applied").asInt()).isOne();
			assertThat(answer.json().at("/warnings").toString()).contains("NOT_RECORDED", "not kept for repeats");
			send(this.here, "/v1/jobs", PUSH).refusal(409, "interrupted");
			replica.proxy().heal();
			String job = answer.json().get("jobId").asString();
			await("kept as soon as it can be")
				.untilAsserted(() -> assertReplayed(job, send(this.here, "/v1/jobs", PUSH)));
		}
		assertThat(this.redis.llen("list")).isOne();
	}

	/** The process of a run that had written nothing is gone, and comes back later. */
	@ParameterizedTest
	@ValueSource(strings = { "dry run", "rejections", "upload" })
	void aRunThatWroteNothingHasNoKeyWhenItsInstanceIsGone(String kind) throws Exception {
		String call = (kind.equals("dry run")) ? "/v1/jobs?dryRun=true" : "/v1/jobs";
		String[] headers = (kind.equals("upload")) ? new String[] { "Prefer: respond-async" } : new String[0];
		try (Wire first = open(replica.service(), call, headers)) {
			first.chunk((kind.equals("rejections")) ? "bad\n" : PUSH);
			await().until(() -> this.records.get(keyName()) != null);
			if (!kind.equals("upload")) {
				String job = replica.service().awaitJob("running");
				await("has read its record")
					.until(() -> replica.service().get("/v1/jobs/" + job).json().at("/counts/received").asInt() == 1);
			}
			goneForHere();
			String job = send(this.here, "/v1/jobs", PUSH).report().get("jobId").asString();
			replica.proxy().heal();
			await().until(() -> replica.service()
				.get("/actuator/pipeset")
				.json()
				.at("/control/state")
				.asString()
				.equals("up"));
			Answer late = first.chunk(PUSH).lastChunk().answer();
			switch (kind) {
				case "dry run" -> late.report();
				case "rejections" -> {
					late.job(409, "cancelled", "cancelled");
					assertThat(late.json().get("detail").asString()).contains("another request has this");
				}
				default -> assertThat(late.refusal(409, "idempotency-key-in-use")).contains("another request has this");
			}
			assertReplayed(job, reached(replica.service()));
			assertReplayed(job, send(this.here, "/v1/jobs", PUSH));
		}
		assertThat(this.redis.llen("list")).isOne();
	}

	/** This instance takes the other one for gone, which is cut off. */
	private void goneForHere() {
		replica.proxy().stopAll();
		String port = ":" + replica.service().port();
		this.records.keys("pipeset:job:*")
			.stream()
			.filter((record) -> this.records.hget(record, "instance").endsWith(port))
			.forEach((record) -> this.records.hset(record, "seen", "0"));
		ReflectionTestUtils.setField(this.controlRedis, "backNanos", null);
	}

	@Test
	void eachAnswerIsKeptHoweverManyWait() throws Exception {
		int jobs = 80;
		Map<String, Wire> first = new HashMap<>();
		try {
			for (int i = 0; i < jobs; i++) {
				this.key = UUID.randomUUID().toString();
				first.put(this.key, open(this.here).chunk(PUSH));
			}
			await().until(() -> this.redis.llen("list") == jobs);
			Fault.FULL.strike();
			Map<String, String> ids = new HashMap<>();
			for (Map.Entry<String, Wire> upload : first.entrySet()) {
				JsonNode report = upload.getValue().lastChunk().answer().report();
				assertThat(report.get("warnings").toString()).contains("not kept for repeats");
				ids.put(upload.getKey(), report.get("jobId").asString());
			}
			Fault.FULL.lift();
			ids.forEach((key, job) -> {
				this.key = key;
				await().untilAsserted(() -> assertReplayed(job, send(replica.service(), "/v1/jobs", PUSH)));
			});
		}
		finally {
			Fault.FULL.lift();
			for (Wire upload : first.values()) {
				upload.close();
			}
		}
		assertThat(this.redis.llen("list")).isEqualTo(jobs);
	}

	@Test
	void aKeyThatAnotherRequestHasByNowIsToldInTheLogAndInTheReport(CapturedOutput output) throws Exception {
		try (Wire first = open(this.here)) {
			first.chunk(PUSH);
			await().until(() -> this.redis.llen("list") == 1);
			this.records.set(keyName(), "another");
			await().until(() -> output.getAll().contains("another request has it now"));
			assertThat(first.lastChunk().answer().json().at("/warnings").toString())
				.contains("Another request has it now, and may have run as well");
			assertThat(output.getAll().lines().filter((line) -> line.contains("another request has it now")))
				.hasSize(1);
		}
	}

	/** The control Redis may come back from a snapshot of the time before. */
	@Test
	void aKeyWhoseJobHasWrittenIsNotFreeAgainAfterARestore() throws Exception {
		try (Wire first = open(this.here)) {
			first.chunk(PUSH);
			await().until(() -> this.redis.llen("list") == 1);
			String record = TestRedis.shared().controlKey("job", this.records.get(keyName()));
			this.records.hset(record, "unsent", "1");
			await().untilAsserted(() -> assertThat(this.records.hget(record, "unsent")).isEqualTo("0"));
			first.lastChunk().answer().report();
		}
	}

	@Test
	void anAnswerThatIsReplayedSaysHowToGoOnAndNotToSendTheSameAgain() throws Exception {
		CompletableFuture<?> end = null;
		Replica ending = Replica.start(control, TestRedis.shared().properties(), "pipeset.limits.shutdown-grace=0s",
				"pipeset.limits.body-idle-timeout=1s");
		try {
			for (String type : List.of("stalled", "cancelled", "shutting-down")) {
				this.key = UUID.randomUUID().toString();
				this.redis.flushall();
				Service service = (type.equals("cancelled")) ? this.here : ending.service();
				try (Wire first = open(service)) {
					first.chunk(PUSH);
					await().until(() -> this.redis.llen("list") == 1);
					if (type.equals("cancelled")) {
						first.reset();
					}
					else {
						if (type.equals("shutting-down")) {
							end = OwnThread.run(ending::close);
						}
						assertSaysHowToGoOn(type, first.answer());
					}
				}
				Answer replay = await().until(() -> send(replica.service(), "/v1/jobs", PUSH),
						(answer) -> answer.headers().firstValue("Idempotency-Replayed").isPresent());
				assertSaysHowToGoOn(type, replay);
				assertThat(this.redis.llen("list")).isOne();
			}
		}
		finally {
			((end != null) ? end : OwnThread.run(ending::close)).get(1, TimeUnit.MINUTES);
		}
	}

	private static void assertSaysHowToGoOn(String type, Answer answer) {
		JsonNode problem = answer.json();
		assertThat(problem.get("type").asString()).as(answer.text()).isEqualTo("urn:pipeset:problem:" + type);
		assertThat(problem.get("detail").asString()).contains("1 records were applied", "gets this answer again",
				"with a new key", "/items");
		assertThat(problem.at("/job/counts/applied").asInt()).isOne();
		assertThat(answer.headers().firstValue("Retry-After")).isEmpty();
	}

	/** Something that happens to the control Redis. */
	enum Fault {

		/** Its connections move no bytes. */
		HELD(false) {
			@Override
			void strike() {
				two.cutOff();
			}

			@Override
			void lift() {
				two.heal();
			}
		},

		/** It stands still. */
		FROZEN(false) {
			@Override
			void strike() {
				control.pause();
			}

			@Override
			void lift() {
				control.resume();
			}
		},

		/** It refuses to write. */
		FULL(false) {
			@Override
			void strike() {
				control.client().configSet("maxmemory", "1");
			}

			@Override
			void lift() {
				control.client().configSet("maxmemory", "0");
			}
		},

		/** Somebody empties it. */
		EMPTIED(true) {
			@Override
			void strike() {
				control.client().flushall();
			}

			@Override
			void lift() {
				// It goes on.
			}
		},

		/** It ends, and comes back empty. */
		RESTARTED(true) {
			@Override
			void strike() {
				control.kill();
			}

			@Override
			void lift() {
				control.restart();
			}
		};

		private final boolean forgets;

		Fault(boolean forgets) {
			this.forgets = forgets;
		}

		abstract void strike();

		abstract void lift();

	}

}
