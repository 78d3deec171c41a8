package io.pipeset.web.job;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.List;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Two jobs run and two wait. The next one is refused, and told when to come again. */
@ServiceTest(properties = { "pipeset.limits.max-running-jobs=2", "pipeset.limits.max-waiting-jobs=2",
		"pipeset.limits.max-wait=1m" })
class JobQueueingTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	JobQueueingTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void moreJobsThanMayRunWaitForTheirTurnWithTheirBodiesUnread() throws IOException {
		Wire first = this.service.begin("first");
		Wire second = this.service.begin("second");
		await().until(() -> this.redis.dbsize() == 2);
		Wire third = waiting(1);
		Wire fourth = waiting(2);
		assertThat(this.service.get("/actuator/metrics/pipeset.jobs.queued").json().at("/measurements/0/value").asInt())
			.isEqualTo(2);
		assertThatExceptionOfType(SocketTimeoutException.class).as("100 Continue").isThrownBy(() -> third.line(200));
		second.lastChunk().answer().report();
		assertThat(third.line(10_000)).isEqualTo("HTTP/1.1 100 ");
		await().until(() -> jobs("/jobsWaiting") == 1);
		assertThatExceptionOfType(SocketTimeoutException.class).as("100 Continue").isThrownBy(() -> fourth.line(200));
		first.lastChunk().answer().report();
		assertThat(fourth.line(10_000)).isEqualTo("HTTP/1.1 100 ");
		for (Wire wire : List.of(third, fourth)) {
			assertThat(wire.line(10_000)).isEmpty();
			JsonNode report = wire.chunk("[\"LPUSH\",\"late\",\"1\"]\n").lastChunk().answer().report();
			assertThat(Answer.counts(report)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
			assertThat(report.at("/timings/waitMillis").asDouble()).isGreaterThan(200);
		}
	}

	@Test
	void whoeverIsTooManyIsToldSoWhateverItSends() throws IOException {
		Wire first = this.service.begin("first");
		this.service.begin("second");
		await().until(() -> this.redis.dbsize() == 2);
		waiting(1);
		waiting(2);
		long before = this.redis.dbsize();
		for (Answer answer : List.of(this.service.post("/pipeset/5"), this.service.post("/piperpop/5"),
				this.service.upload("/v1/jobs?op=SET", Service.NDJSON,
						Lines.of(500_000, (i) -> "{\"key\":\"k" + i + "\",\"value\":\"v\"}")))) {
			String detail = answer.refusal(429, "limit");
			assertThat(detail).contains("2 jobs are running and 2 are waiting")
				.contains("pipeset.limits.max-running-jobs=2")
				.contains("pipeset.limits.max-waiting-jobs=2");
			assertThat(answer.header("Retry-After")).matches("[1-9][0-9]*");
		}
		assertThat(this.redis.dbsize()).isEqualTo(before);
		assertThat(this.service.get("/actuator/health/readiness").status()).isEqualTo(200);
		first.lastChunk().answer().report();
		await().until(() -> jobs("/jobsWaiting") == 1);
	}

	@Test
	void anInvalidRequestIsRefusedAtOnceHoweverManyWait() throws IOException {
		this.service.begin("first");
		this.service.begin("second");
		await().until(() -> this.redis.dbsize() == 2);
		this.service.post("/pipeset/5?batchSize=0").refusal(400, "invalid-setting");
		this.service.post("/v1/jobs", "text/html", "x").refusal(415, "unsupported-media-type");
	}

	private Wire waiting(int expected) throws IOException {
		Wire wire = this.service.keep(Wire.post(this.service, "/v1/jobs", "Content-Type: application/x-ndjson",
				"Transfer-Encoding: chunked", "Expect: 100-continue"));
		await().until(() -> jobs("/jobsWaiting") == expected);
		return wire;
	}

	private int jobs(String pointer) {
		return this.service.get("/actuator/pipeset").json().at(pointer).asInt(-1);
	}

}
