package io.pipeset.web.upload;

import java.io.IOException;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Uploads that pause, trickle or break off on the wire are accounted for. */
@ServiceTest
class UploadTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	UploadTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/v1/jobs?op=SET", "/v1/jobs?op=SET&concurrency=4",
			"/v1/jobs?op=SET&flush=close&batchSize=100000", "/pipeset/3?flush=buffered:100000" })
	void whatWasSentBeforeAPauseIsInRedisWhileTheUploadIsOpen(String path) throws IOException {
		try (Wire wire = Wire.upload(this.service, path)) {
			wire.chunk("{\"key\":\"a\",\"value\":\"1\"}\n{\"key\":\"b\",\"value\":\"2\"}\n{\"key\":\"c\",");
			await().untilAsserted(() -> assertThat(this.redis.exists("a", "b")).isEqualTo(2));
			assertThat(this.redis.exists("c")).isZero();
			wire.chunk("\"value\":\"3\"}\n");
			await().untilAsserted(() -> assertThat(this.redis.get("c")).isEqualTo("3"));
			assertThat(Answer.counts(wire.lastChunk().answer().report())).isEqualTo(new Counts(3, 3, 0, 0, 0, 0));
		}
	}

	@Test
	void elementsOfAnArrayBeforeAPauseAreInRedisToo() throws IOException {
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "Content-Type: application/json",
				"Transfer-Encoding: chunked")) {
			wire.chunk("[[\"SET\",\"a\",\"1\"],");
			await().untilAsserted(() -> assertThat(this.redis.get("a")).isEqualTo("1"));
			wire.chunk("[\"SET\",\"b\",\"2\"]]").lastChunk();
			assertThat(Answer.counts(wire.answer().report())).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		}
		assertThat(this.redis.get("b")).isEqualTo("2");
	}

	@Test
	void aBodyThatComesByteByByteIsOneJob() throws IOException {
		String body = "{\"key\":\"ä\",\"value\":\"1\"}\n[\"SET\",\"b\",\"2\"]\n";
		try (Wire wire = Wire.upload(this.service, "/v1/jobs?op=SET")) {
			for (int i = 0; i < body.length(); i++) {
				wire.chunk(body.substring(i, i + 1));
			}
			assertThat(Answer.counts(wire.lastChunk().answer().report())).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		}
		assertThat(this.redis.get("ä")).isEqualTo("1");
		assertThat(this.redis.get("b")).isEqualTo("2");
	}

	@Test
	void aConnectionIsReusedAfterAJob() {
		for (int i = 0; i < 50; i++) {
			assertThat(Answer.counts(this.service.ndjson("/v1/jobs", "[\"LPUSH\",\"l\",\"" + i + "\"]").report()))
				.isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		}
		assertThat(this.redis.llen("l")).isEqualTo(50);
	}

	@Test
	void anUploaderIsToldToContinueOnlyIfItsBodyWillBeRead() throws IOException {
		try (Wire wire = Wire.post(this.service, "/v1/jobs?batchSize=0", "Content-Type: application/x-ndjson",
				"Content-Length: 1000000", "Expect: 100-continue")) {
			wire.answer().refusal(400, "invalid-setting");
		}
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "Content-Type: application/x-ndjson",
				"Transfer-Encoding: chunked", "Expect: 100-continue")) {
			assertThat(wire.line()).isEqualTo("HTTP/1.1 100 ");
			assertThat(wire.line()).isEmpty();
			wire.chunk("[\"SET\",\"a\",\"1\"]\n").lastChunk();
			wire.answer().report();
		}
		assertThat(this.redis.keys("*")).containsExactly("a");
	}

	@Test
	void aClientThatDisconnectsEndsItsJobAndNothingElse() throws IOException {
		double cancelled = cancelled();
		try (Wire wire = Wire.upload(this.service, "/v1/jobs?op=SET&concurrency=2")) {
			wire.chunk("{\"key\":\"a\",\"value\":\"1\"}\n{\"key\":\"b\",");
			await().untilAsserted(() -> assertThat(this.redis.get("a")).isEqualTo("1"));
		}
		await().untilAsserted(() -> assertThat(cancelled()).isEqualTo(cancelled + 1));
		await().untilAsserted(() -> {
			assertThat(this.service.get("/actuator/pipeset").json().at("/jobsRunning").asInt(-1)).isZero();
			assertThat(this.service.get("/actuator/pipeset").json().at("/lanes/busy").asInt(-1)).isZero();
			assertThat(this.service.get("/actuator/pipeset").json().at("/inFlightBytes").asInt(-1)).isZero();
		});
		assertThat(this.redis.keys("*")).containsExactly("a");
		assertThat(Answer.counts(this.service.post("/pipeset/10").report())).isEqualTo(new Counts(10, 10, 0, 0, 0, 0));
	}

	@Test
	void aClientThatDoesNotWaitForItsAnswerHasItsRecordsRunAllTheSame() throws IOException {
		try (Wire wire = Wire.upload(this.service, "/v1/jobs?op=SET")) {
			wire.chunk("{\"key\":\"a\",\"value\":\"1\"}\n").lastChunk();
		}
		await().untilAsserted(() -> assertThat(this.redis.get("a")).isEqualTo("1"));
		assertThat(Answer.counts(this.service.post("/pipeset/10").report())).isEqualTo(new Counts(10, 10, 0, 0, 0, 0));
	}

	private double cancelled() {
		Answer answer = this.service.get("/actuator/metrics/pipeset.job?tag=state:cancelled");
		return (answer.status() == 404) ? 0 : answer.json().at("/measurements/0/value").asDouble();
	}

}
