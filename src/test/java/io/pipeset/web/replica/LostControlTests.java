package io.pipeset.web.replica;

import java.time.Duration;
import java.util.Map;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.keep.JobRecorder;
import io.pipeset.keep.JobRegistry;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.JobState;
import io.pipeset.service.Answer;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.TwoInstances;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.util.ReflectionTestUtils;

import static io.pipeset.web.replica.AsyncCalls.ENDLESS;
import static io.pipeset.web.replica.AsyncCalls.LINES;
import static io.pipeset.web.replica.AsyncCalls.async;
import static io.pipeset.web.replica.AsyncCalls.id;
import static io.pipeset.web.replica.AsyncCalls.look;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Jobs run without the control Redis, and say so. Their records are right again as soon
 * as it is back.
 */
@ServiceTest(properties = { "pipeset.jobs.lease=1500ms", "pipeset.control.timeout=1s" })
class LostControlTests {

	@RegisterExtension
	static final TwoInstances two = TwoInstances.start("pipeset.jobs.lease=1500ms", "pipeset.control.timeout=1s");

	private static final TestRedis control = two.control();

	private static final FaultProxy proxy = two.proxy();

	private static final Replica replica = two.replica();

	private final RedisCommands<String, String> records = control.client();

	private final Service here;

	private final JobRegistry registry;

	private final JobRecorder recorder;

	LostControlTests(Service service, @Autowired JobRegistry registry, @Autowired JobRecorder recorder) {
		this.here = service;
		this.registry = registry;
		this.recorder = recorder;
	}

	@BeforeEach
	void empty() {
		this.records.flushall();
	}

	@AfterEach
	void cancelAll() {
		two.heal();
		AsyncCalls.cancelAll(this.here, replica.service());
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aJobBeginsAndEndsWithoutTheControlRedisAndIsRecordedAsSoonAsItIsBack(boolean silent) {
		id(async(this.here, "/pipeset/1", null));
		if (silent) {
			proxy.stopAll();
		}
		else {
			control.kill();
		}
		Answer taken = async(this.here, "/v1/jobs", "[\"SET\",\"a\",\"1\"]\n");
		String id = id(taken);
		assertThat(taken.json().at("/warnings/0/code").asString()).as(taken.text()).isEqualTo("NOT_RECORDED");
		await().untilAsserted(() -> {
			JsonNode own = look(this.here, id);
			assertThat(own.get("state").asString()).isEqualTo("completed");
			assertThat(own.at("/warnings/0/code").asString()).isEqualTo("NOT_RECORDED");
			assertThat(own.at("/warnings/0/detail").asString()).contains("control Redis at 127.0.0.1:",
					"cannot be reached");
		});
		assertThat(TestRedis.shared().client().get("a")).isEqualTo("1");
		assertThat(this.here.get("/v1/jobs/01a20347-d60e-7000-8000-000000000000").refusal(503, "control-unreachable"))
			.contains("cannot be reached");
		JsonNode list = this.here.get("/v1/jobs").json();
		assertThat(list.at("/jobs/0/jobId").asString()).isEqualTo(id);
		assertThat(list.at("/warnings/0/code").asString()).isEqualTo("NOT_RECORDED");
		assertThat(this.here.get("/actuator/pipeset").json().at("/control/state").asString()).isEqualTo("down");
		assertThat(this.here.get("/actuator/health").status()).isEqualTo(200);
		if (silent) {
			proxy.heal();
		}
		else {
			control.restart();
		}
		await().atMost(Duration.ofSeconds(30))
			.ignoreExceptions()
			.untilAsserted(() -> assertThat(there(id).get("state").asString()).isEqualTo("completed"));
		await().untilAsserted(() -> assertThat(look(this.here, id).has("warnings")).isFalse());
		assertThat(this.here.get("/actuator/pipeset").json().at("/control/state").asString()).isEqualTo("up");
	}

	/** They are more than an ended job with files keeps once they are recorded. */
	@Test
	void theItemsOfAReportOutliveAnOutageAtTheEndOfItsJob() {
		id(async(this.here, "/pipeset/1", null));
		proxy.stopAll();
		String id = id(async(this.here, "/v1/jobs", "bad\n".repeat(300)));
		await().untilAsserted(() -> assertThat(look(this.here, id).get("items")).hasSize(300));
		proxy.heal();
		await().ignoreExceptions().untilAsserted(() -> assertThat(there(id).get("items")).hasSize(300));
		assertThat(look(this.here, id).get("items")).hasSize(300);
	}

	@Test
	void aJobWhoseInstanceIsNotHeardOfIsInterruptedUntilItIs() {
		String id = id(async(replica.service(), ENDLESS, LINES));
		await().untilAsserted(() -> assertThat(Answer.counts(look(this.here, id)).applied()).isPositive());
		replica.proxy().stopAll();
		await().untilAsserted(() -> {
			JsonNode look = look(this.here, id);
			assertThat(look.get("state").asString()).isEqualTo("interrupted");
			assertThat(look.at("/ending/type").asString()).isEqualTo("interrupted");
			assertThat(look.at("/ending/detail").asString()).contains(":" + replica.service().port());
			assertThat(Answer.counts(look).applied()).isPositive();
		});
		assertThat(this.here.get("/v1/jobs?state=interrupted").json().at("/jobs/0/jobId").asString()).isEqualTo(id);
		assertThat(this.here.get("/v1/jobs/" + id + "/events").text()).contains("event:end", "interrupted");
		JsonNode own = look(replica.service(), id);
		assertThat(own.get("state").asString()).isEqualTo("running");
		await().untilAsserted(() -> assertThat(look(replica.service(), id).at("/warnings/0/code").asString())
			.isEqualTo("NOT_RECORDED"));
		replica.proxy().heal();
		await().untilAsserted(() -> assertThat(look(this.here, id).get("state").asString()).isEqualTo("running"));
		await("its lease may run out for a moment").until(() -> this.here.delete("/v1/jobs/" + id).status() == 202);
		await().untilAsserted(() -> assertThat(look(this.here, id).get("state").asString()).isEqualTo("cancelled"));
	}

	@Test
	void aJobThatEndsWithoutTheControlRedisIsRecordedAsSoonAsItIsBack() {
		String id = id(async(this.here, ENDLESS, LINES));
		await().untilAsserted(() -> assertThat(there(id).get("state").asString()).isEqualTo("running"));
		proxy.stopAll();
		this.here.delete("/v1/jobs/" + id);
		await().untilAsserted(() -> assertThat(look(this.here, id).get("state").asString()).isEqualTo("cancelled"));
		await().untilAsserted(
				() -> assertThat(look(this.here, id).at("/warnings/0/code").asString()).isEqualTo("NOT_RECORDED"));
		await().untilAsserted(() -> assertThat(there(id).get("state").asString()).isEqualTo("interrupted"));
		proxy.heal();
		await().untilAsserted(() -> assertThat(there(id).get("state").asString()).isEqualTo("cancelled"));
		await().untilAsserted(() -> AsyncCalls.assertSame(there(id), look(this.here, id)));
	}

	@Test
	void aJobThatRunsIsRecordedAnewIfTheControlRedisHasLostEverything() {
		String id = id(async(this.here, ENDLESS, LINES));
		await().untilAsserted(() -> assertThat(there(id).get("state").asString()).isEqualTo("running"));
		this.records.flushall();
		await().untilAsserted(() -> {
			Answer look = replica.service().get("/v1/jobs/" + id);
			assertThat(look.status()).isEqualTo(200);
			assertThat(look.json().get("state").asString()).isEqualTo("running");
		});
		await("its lease may run out for a moment")
			.until(() -> replica.service().delete("/v1/jobs/" + id).status() == 202);
		await().untilAsserted(() -> assertThat(there(id).get("state").asString()).isEqualTo("cancelled"));
	}

	@Test
	void aRecordOfAJobThatHasEndedIsNotWrittenAgainAfterAPause() {
		String ended = id(async(this.here, "/pipeset/1", null));
		// The record is there before its writer has entered the job into the list.
		await().untilAsserted(() -> assertThat(AsyncCalls.kept(this.recorder).get(ended)).extracting("written.state")
			.isEqualTo(JobState.COMPLETED));
		this.records.pexpire(TestRedis.shared().controlKey("job", ended), Duration.ofMinutes(5).toMillis());
		proxy.stopAll();
		String meanwhile = id(async(this.here, "/pipeset/1", null));
		proxy.heal();
		await().until(() -> !look(this.here, meanwhile).has("warnings"));
		String next = id(async(this.here, "/v1/jobs?rateLimit=20", LINES));
		await()
			.untilAsserted(() -> assertThat(Answer.counts(there(next)).applied()).as("by the tick").isGreaterThan(2));
		assertThat(this.records.pttl(TestRedis.shared().controlKey("job", ended))).isBetween(1L,
				Duration.ofMinutes(5).toMillis());
	}

	@Test
	void aJobThatIsForgottenWhileTheControlRedisIsAwayIsForgottenByTheRecorder() {
		id(async(this.here, "/pipeset/1", null));
		proxy.stopAll();
		String id = id(async(this.here, "/pipeset/1", null));
		await().until(() -> look(this.here, id).get("state").asString().equals("completed"));
		((Map<?, ?>) ReflectionTestUtils.getField(this.registry, "jobs")).remove(id);
		proxy.heal();
		await().until(() -> !AsyncCalls.kept(this.recorder).containsKey(id));
	}

	private static JsonNode there(String id) {
		return look(replica.service(), id);
	}

}
