package io.pipeset.web.job;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;

import io.pipeset.QuietLog;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.run.Jobs;
import io.pipeset.service.Answer;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.TwoInstances;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A request with an Idempotency-Key runs once, however often and wherever it is sent. */
@ServiceTest(properties = "pipeset.control.timeout=1s")
class IdempotencyTests extends KeyedCalls {

	@RegisterExtension
	static final TwoInstances two = TwoInstances.start("pipeset.control.timeout=5s");

	private static final TestRedis control = two.control();

	private static final FaultProxy proxy = two.proxy();

	private static final Replica replica = two.replica();

	IdempotencyTests(Service service) {
		super(service);
	}

	@Test
	void aRepeatIsAnsweredAnywhereWithTheReportOfTheFirstAndRunsNothing() {
		Answer first = send(this.here, "/v1/jobs?batchSize=10&results=all", PUSH + "bad\n");
		assertThat(first.report().at("/counts/applied").asInt()).isOne();
		for (Service service : List.of(this.here, replica.service())) {
			Answer repeat = send(service, "/v1/jobs?results=all&batchSize=10", PUSH + "bad\n");
			assertThat(repeat.status()).as(repeat.text()).isEqualTo(200);
			assertThat(repeat.json()).isEqualTo(first.json());
			assertThat(repeat.header("Idempotency-Replayed")).isEqualTo("true");
			for (String header : List.of("Location", "Pipeset-Errors", "Content-Type")) {
				assertThat(repeat.header(header)).as(header).isEqualTo(first.header(header));
			}
		}
		assertThat(first.headers().firstValue("Idempotency-Replayed")).isEmpty();
		assertThat(this.redis.llen("list")).isOne();
		assertThat(replica.service().get(first.header("Location")).json().get("state").asString())
			.isEqualTo("completed");
	}

	@Test
	void theSameBytesPackedOrNotAreTheSameRequest() throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (OutputStream gzip = new GZIPOutputStream(bytes)) {
			gzip.write(PUSH.repeat(20_000).getBytes(StandardCharsets.UTF_8));
		}
		Answer first = this.here.send(request(this.here, "/v1/jobs").header("Content-Type", Service.NDJSON)
			.header("Content-Encoding", "gzip")
			.POST(BodyPublishers.ofByteArray(bytes.toByteArray())));
		assertThat(first.report().at("/counts/applied").asInt()).isEqualTo(20_000);
		assertThat(send(replica.service(), "/v1/jobs", PUSH.repeat(20_000)).json()).isEqualTo(first.json());
		assertThat(this.redis.llen("list")).isEqualTo(20_000);
	}

	@ParameterizedTest
	@CsvSource({ "/v1/jobs?batchSize=2, 2, application/x-ndjson", "/v1/jobs, 1, application/x-ndjson",
			"/v1/jobs, 3, application/x-ndjson", "/v1/jobs, 2, application/json",
			"/pipeset/2, 2, application/x-ndjson" })
	void anotherRequestWithTheSameKeyIsRefused(String call, int records, String type) {
		send(this.here, "/v1/jobs", PUSH.repeat(2)).report();
		Answer other = replica.service()
			.send(request(replica.service(), call).header("Content-Type", type)
				.POST(BodyPublishers.ofString(PUSH.repeat(records))));
		assertThat(other.refusal(422, "idempotency-key-reused")).contains("Nothing was run", "new key");
		assertThat(this.redis.llen("list")).isEqualTo(2);
	}

	@Test
	void aRequestWithoutABodyIsRepeatedAsWell() {
		Answer first = send(this.here, "/listinput/list?count=3", null);
		assertThat(send(replica.service(), "/listinput/list?count=3", null).json()).isEqualTo(first.json());
		send(replica.service(), "/listinput/list?count=4", null).refusal(422, "idempotency-key-reused");
		assertThat(this.redis.llen("list")).isEqualTo(3);
	}

	@Test
	void whileTheFirstRunsARepeatIsRefusedWithItsBodyUnread() throws Exception {
		try (Wire first = open(this.here)) {
			first.chunk(PUSH);
			await().until(() -> this.redis.llen("list") == 1);
			for (Service service : List.of(this.here, replica.service())) {
				// Nothing of its body is ever sent.
				try (Wire repeat = open(service)) {
					Answer refused = repeat.answer();
					assertThat(refused.refusal(409, "idempotency-key-in-use")).contains("still runs");
					assertThat(refused.header("Retry-After")).isEqualTo("1");
					String location = refused.header("Location");
					await().untilAsserted(
							() -> assertThat(replica.service().get(location).json().path("state").asString("none"))
								.isEqualTo("running"));
				}
			}
			Answer answer = first.chunk(PUSH).lastChunk().answer();
			assertThat(answer.report().at("/counts/applied").asInt()).isEqualTo(2);
			assertThat(send(replica.service(), "/v1/jobs", PUSH.repeat(2)).json()).isEqualTo(answer.json());
		}
		assertThat(this.redis.llen("list")).isEqualTo(2);
	}

	@Test
	void ofTwoInstancesThatGetAKeyAtTheSameInstantOneRunsTheRequest() throws Exception {
		// Both stand before the claim: the policy is known and the lease is renewed.
		send(this.here, "/v1/jobs?dryRun=true", PUSH);
		send(replica.service(), "/v1/jobs?dryRun=true", PUSH);
		CompletableFuture<ProxyLink> hereClaims = proxy.stopAt(Way.COMMANDS, 1, 0);
		CompletableFuture<ProxyLink> thereClaims = replica.proxy().stopAt(Way.COMMANDS, 1, 0);
		CompletableFuture<Answer> one = sendAsync(this.here);
		CompletableFuture<Answer> two = sendAsync(replica.service());
		ProxyLink first = hereClaims.get(1, TimeUnit.MINUTES);
		ProxyLink second = thereClaims.get(1, TimeUnit.MINUTES);
		first.goOn();
		second.goOn();
		List<Answer> answers = List.of(one.get(1, TimeUnit.MINUTES), two.get(1, TimeUnit.MINUTES));
		assertThat(answers)
			.filteredOn(
					(answer) -> answer.status() == 200 && answer.headers().firstValue("Idempotency-Replayed").isEmpty())
			.hasSize(1);
		assertThat(answers).allMatch((answer) -> answer.status() == 200 || answer.status() == 409);
		assertThat(this.redis.llen("list")).isOne();
	}

	@Test
	void anAsynchronousJobRunsOnceAndItsRepeatHasItsReport() {
		Answer taken = this.here.send(request(this.here, "/v1/jobs").header("Prefer", "respond-async")
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString(PUSH.repeat(3))));
		assertThat(taken.status()).as(taken.text()).isEqualTo(202);
		await().untilAsserted(() -> {
			Answer answer = send(replica.service(), "/v1/jobs", PUSH.repeat(3));
			assertThat(answer.status()).as(answer.text()).isEqualTo(200);
		});
		Answer repeat = send(replica.service(), "/v1/jobs", PUSH.repeat(3));
		assertThat(repeat.header("Location")).isEqualTo(taken.header("Location"));
		assertThat(repeat.header("Idempotency-Replayed")).isEqualTo("true");
		assertThat(repeat.report().at("/counts/applied").asInt()).isEqualTo(3);
		assertThat(this.redis.llen("list")).isEqualTo(3);
	}

	@Test
	void aJobWhoseUploadIsUnderWayIsCancelledAndPacedAsSoonAsItIsThere() throws Exception {
		control.client().flushall();
		try (Wire first = open(this.here, "/v1/jobs?rateLimit=1", "Prefer: respond-async")) {
			first.chunk(PUSH);
			await().until(() -> !control.client().keys("pipeset:key:*").isEmpty());
			String[] location = new String[1];
			await().until(() -> {
				location[0] = send(replica.service(), "/v1/jobs?rateLimit=1", PUSH).header("Location");
				return this.here.get(location[0]).status() == 200;
			});
			// The control Redis may not answer within a second.
			await().until(() -> replica.service().patch(location[0] + "?rateLimit=2").status() == 202);
			await().until(() -> this.here.delete(location[0]).status() == 202);
			Answer taken = first.chunk(PUSH.repeat(1000)).lastChunk().answer();
			assertThat(taken.header("Location")).isEqualTo(location[0]);
			await().until(() -> this.here.get(location[0]).headers().firstValue("Retry-After").isEmpty());
			JsonNode report = this.here.get(location[0]).json();
			assertThat(report.get("state").asString()).isEqualTo("cancelled");
			assertThat(report.at("/settings/rateLimit").asInt()).isEqualTo(2);
		}
	}

	@Test
	void aRunThatWroteNothingFreesTheKey() {
		this.redis.set("list", "no list");
		for (String call : List.of("/v1/jobs?dryRun=true", "/v1/jobs")) {
			assertThat(send(this.here, call, PUSH).report().at("/counts/applied").asInt()).isZero();
		}
		send(this.here, "/v1/jobs?op=SET", "{").report();
		this.redis.del("list");
		assertThat(send(replica.service(), "/v1/jobs", PUSH).report().at("/counts/applied").asInt()).isOne();
	}

	@Test
	void aFailedRunIsReplayedWithItsProblem() {
		Answer first = send(this.here, "/pipeset/3", "[\"SET\",\"a\",\"1\"]\n");
		first.job(422, "count-mismatch", "failed");
		Answer repeat = send(replica.service(), "/pipeset/3", "[\"SET\",\"a\",\"1\"]\n");
		assertThat(repeat.json()).isEqualTo(first.json());
		assertThat(repeat.header("Content-Type")).isEqualTo("application/problem+json");
		assertThat(repeat.header("Idempotency-Replayed")).isEqualTo("true");
	}

	@Test
	void aRunOfWhichOnlyAPartWasReadIsKnownByThatPart() {
		this.redis.set("string", "1");
		String bad = "[\"RPUSH\",\"string\",\"v\"]\n";
		Answer first = send(this.here, "/v1/jobs?maxErrors=0", PUSH + bad.repeat(200_000));
		first.job(422, "stopped", "stopped");
		assertThat(send(replica.service(), "/v1/jobs?maxErrors=0", PUSH + bad.repeat(200_000)).json())
			.isEqualTo(first.json());
		send(replica.service(), "/v1/jobs?maxErrors=0", bad + PUSH + bad.repeat(200_000)).refusal(422,
				"idempotency-key-reused");
		assertThat(this.redis.llen("list")).isOne();
	}

	@Test
	void argumentsInAnotherOrderAreAnotherRequest() {
		String row = "{\"a\":\"1\",\"b\":\"2\"}\n";
		send(this.here, "/v1/jobs?op=RPUSH&key=list&args={a}&args={b}".replace("{", "%7B").replace("}", "%7D"), row)
			.report();
		assertThat(this.redis.lrange("list", 0, -1)).containsExactly("1", "2");
		send(replica.service(), "/v1/jobs?args={b}&args={a}&key=list&op=RPUSH".replace("{", "%7B").replace("}", "%7D"),
				row)
			.refusal(422, "idempotency-key-reused");
		assertThat(send(replica.service(),
				"/v1/jobs?args={a}&args={b}&key=list&op=RPUSH".replace("{", "%7B").replace("}", "%7D"), row)
			.status()).isEqualTo(200);
	}

	@Test
	void aRunWhoseBodyWasBrokenIsReplayedWithItsReport() throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (OutputStream gzip = new GZIPOutputStream(bytes)) {
			gzip.write(PUSH.getBytes(StandardCharsets.UTF_8));
		}
		byte[] broken = bytes.toByteArray();
		broken[broken.length - 8] ^= 1;
		Supplier<HttpRequest.Builder> request = () -> request(this.here, "/v1/jobs")
			.header("Content-Type", Service.NDJSON)
			.header("Content-Encoding", "gzip")
			.POST(BodyPublishers.ofByteArray(broken));
		Answer first = this.here.send(request.get());
		first.job(400, "malformed-body", "failed");
		assertThat(this.redis.llen("list")).isOne();
		Answer repeat = this.here.send(request.get());
		assertThat(repeat.json()).isEqualTo(first.json());
		assertThat(repeat.header("Idempotency-Replayed")).isEqualTo("true");
	}

	@Test
	void aJobThatIsCancelledDuringItsUploadIsCancelled() throws Exception {
		await().until(() -> send(this.here, "/v1/jobs?dryRun=true", PUSH).status() == 200);
		try (Wire first = open(this.here, "/v1/jobs?rateLimit=1", "Prefer: respond-async")) {
			first.chunk(PUSH.repeat(500));
			await().until(() -> replica.service().get("/v1/jobs?state=queued").json().get("jobs").size() == 1);
			String location = send(replica.service(), "/v1/jobs?rateLimit=1", PUSH).header("Location");
			// The control Redis may not answer within a second.
			await().until(() -> replica.service().delete(location).status() == 202);
			assertThat(first.chunk(PUSH.repeat(500)).lastChunk().answer().status()).isEqualTo(202);
			await().untilAsserted(
					() -> assertThat(this.here.get(location).json().get("state").asString()).isEqualTo("cancelled"));
		}
	}

	@Test
	void aRunThatFailedByADefectIsAnsweredSoAndNotTakenForOneThatRuns() {
		QuietLog.expect("by java.lang.NullPointerException");
		Jobs jobs = replica.bean(Jobs.class);
		Object requirements = ReflectionTestUtils.getField(jobs, "requirements");
		ReflectionTestUtils.setField(jobs, "requirements", null);
		try {
			send(replica.service(), "/v1/jobs", PUSH).refusal(500, "internal-server-error");
		}
		finally {
			ReflectionTestUtils.setField(jobs, "requirements", requirements);
		}
		Answer repeat = send(this.here, "/v1/jobs", PUSH);
		assertThat(repeat.refusal(500, "internal-server-error")).isNotEmpty();
		assertThat(repeat.header("Idempotency-Replayed")).isEqualTo("true");
		assertThat(this.here.get(repeat.header("Location")).json().get("state").asString()).isEqualTo("failed");
	}

	@Test
	void popsAreReliableOrRefused() {
		this.redis.rpush("mylist9", "1", "2");
		assertThat(send(this.here, "/piperpop/1", null).refusal(400, "invalid-setting")).contains("reliable=true");
		JsonNode report = send(this.here, "/v1/jobs", "[\"RPOP\",\"mylist9\"]\n").report();
		assertThat(report.get("errorCodes")).hasToString("{\"FORBIDDEN\":1}");
		Answer first = send(this.here, "/piperpop/1?reliable=true", null);
		assertThat(first.report().at("/values/0").asString()).isEqualTo("2");
		Answer repeat = send(replica.service(), "/piperpop/1?reliable=true", null);
		assertThat(repeat.json()).isEqualTo(first.json());
		assertThat(this.redis.llen("mylist9")).isOne();
		assertThat(replica.service().post(repeat.header("Location") + "/ack").status()).isEqualTo(204);
	}

	@Test
	void aKeyIsOneTextOfVisibleCharacters() throws IOException {
		for (String key : List.of("two words", "x".repeat(256), "")) {
			this.key = key;
			try (Wire wire = Wire.post(this.here, "/pipeset/1", "Idempotency-Key: " + key)) {
				assertThat(wire.answer().refusal(400, "invalid-header")).as(key).contains("1 to 255 visible");
			}
		}
		assertThat(this.here
			.send(this.here.request("/pipeset/1")
				.header("Idempotency-Key", "a")
				.header("Idempotency-Key", "b")
				.POST(BodyPublishers.noBody()))
			.refusal(400, "invalid-header")).contains("one text");
		this.key = IntStream.range(0, 255)
			.mapToObj((i) -> Character.toString('!' + i % ('~' - '!' + 1)))
			.collect(Collectors.joining());
		send(this.here, "/pipeset/1", null).report();
		this.key = "short";
		assertThat(send(this.here, "/v1/analyses", null).refusal(400, "not-available")).contains("Idempotency-Key");
	}

	private CompletableFuture<Answer> sendAsync(Service service) {
		return service.sendAsync(request(service, "/v1/jobs").header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString(PUSH)));
	}

}
