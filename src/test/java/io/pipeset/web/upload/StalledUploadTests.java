package io.pipeset.web.upload;

import java.io.IOException;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import io.pipeset.web.document.Examples;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** The service does not wait for ever for an upload on which nothing comes. */
@ServiceTest(properties = "pipeset.limits.body-idle-timeout=300ms")
class StalledUploadTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	StalledUploadTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "?concurrency=4&flush=close" })
	void anUploadThatStallsIsAnsweredWithWhatRan(String settings) throws IOException {
		String records = "[\"SET\",\"a\",\"1\"]\n[\"SET\",\"b\",\"2\"]\n[\"SET\",";
		try (Wire wire = Wire.begun(this.service, "/v1/jobs" + settings, "Content-Length: 1000", records)) {
			assertStalled(wire.answer());
		}
		try (Wire wire = Wire.begun(this.service, "/v1/jobs" + settings,
				Integer.toHexString(records.length()) + "\r\n" + records + "\r\n")) {
			assertStalled(wire.answer());
		}
	}

	@Test
	void anAsynchronousOneThatStallsIsNoJob() throws IOException {
		String record = "[\"SET\",\"a\",\"1\"]\n";
		try (Wire wire = Wire.begun(this.service, "/v1/jobs", "Content-Length: 1000\r\nPrefer: respond-async",
				record)) {
			assertThat(wire.answer().refusal(408, "stalled")).contains("pipeset.limits.body-idle-timeout",
					"nothing was run");
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void anUploadThatNeverBeginsIsStalledToo() throws IOException {
		try (Wire wire = Wire.upload(this.service, "/pipeset/5")) {
			JsonNode job = wire.answer().job(408, "stalled", "failed");
			assertThat(Answer.counts(job)).isEqualTo(new Counts(0, 0, 0, 0, 0, 0));
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	private void assertStalled(Answer answer) {
		JsonNode job = answer.job(408, "stalled", "failed");
		Examples.check(408, "stalled",
				new Answer(answer.status(), answer.headers(), answer.text().replace("300ms", "3s")));
		assertThat(Answer.counts(job)).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(job.at("/inputComplete").asBoolean(true)).isFalse();
		assertThat(job.at("/nextIndex").asInt(-1)).isEqualTo(2);
		assertThat(answer.json().at("/detail").asString()).contains("300ms (pipeset.limits.body-idle-timeout)");
		assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("a", "b");
	}

}
