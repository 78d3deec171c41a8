package io.pipeset.web.upload;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A body that is larger than allowed is refused, or ends its job, whatever the client.
 */
@ServiceTest(properties = "pipeset.limits.max-body-bytes=1MB")
class BodyLimitTests {

	private static final int LIMIT = 1 << 20;

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	BodyLimitTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/v1/jobs", "/pipeset/400" })
	void aBodyThatDeclaresToBeTooLargeIsRefusedBeforeThereIsAJob(String path) {
		String detail = this.service.post(path, Service.NDJSON, records(LIMIT + 1)).refusal(413, "limit");
		assertThat(detail).contains("pipeset.limits.max-body-bytes").contains("1048577").contains("1048576");
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void aBodyOfExactlyTheLimitIsRead() {
		JsonNode report = this.service.post("/v1/jobs", Service.NDJSON, records(LIMIT)).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(LIMIT / 64, LIMIT / 64, 0, 0, 0, 0));
	}

	@Test
	void aBodyThatTurnsOutToBeTooLargeEndsTheJob() {
		String body = records(LIMIT * 3 / 2);
		Answer answer = this.service.upload("/v1/jobs", Service.NDJSON, stream(body));
		assertTooLarge(answer);
	}

	@Test
	void aBodyThatTurnsOutToBeFarTooLargeEndsTheJobToo() {
		Answer answer = this.service.upload("/v1/jobs", Service.NDJSON, stream(records(LIMIT * 19 / 10)));
		assertTooLarge(answer);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aClientThatReadsNoAnswerBeforeItsUploadIsThroughGetsItToo(boolean chunked) throws IOException {
		byte[] body = records(LIMIT * 3 / 2).getBytes(StandardCharsets.UTF_8);
		HttpURLConnection connection = (HttpURLConnection) this.service.uri("/v1/jobs").toURL().openConnection();
		connection.setRequestMethod("POST");
		connection.setDoOutput(true);
		connection.setReadTimeout(30_000);
		connection.setRequestProperty("Content-Type", Service.NDJSON);
		if (chunked) {
			connection.setChunkedStreamingMode(8192);
		}
		else {
			connection.setFixedLengthStreamingMode(body.length);
		}
		try (OutputStream out = connection.getOutputStream()) {
			out.write(body);
		}
		Answer answer = answer(connection);
		if (chunked) {
			assertTooLarge(answer);
		}
		else {
			answer.refusal(413, "limit");
			assertThat(this.redis.dbsize()).isZero();
		}
	}

	private void assertTooLarge(Answer answer) {
		JsonNode job = answer.job(413, "limit", "failed");
		assertThat(answer.json().at("/detail").asString()).contains("pipeset.limits.max-body-bytes")
			.contains("1048576");
		Counts counts = Answer.counts(job);
		assertThat(counts.applied()).isEqualTo(counts.received()).isPositive();
		assertThat(counts.received()).as("all records within the limit, however they arrive").isEqualTo(LIMIT / 64);
		assertThat(job.at("/inputComplete").asBoolean(true)).isFalse();
		assertThat(job.at("/nextIndex").asLong()).isEqualTo(counts.received());
		assertThat(this.redis.dbsize()).isEqualTo(counts.applied());
	}

	private static Answer answer(HttpURLConnection connection) throws IOException {
		int status = connection.getResponseCode();
		try (InputStream in = (status < 400) ? connection.getInputStream() : connection.getErrorStream()) {
			Map<String, List<String>> headers = new TreeMap<>();
			connection.getHeaderFields().forEach((name, values) -> {
				if (name != null) {
					headers.put(name, values);
				}
			});
			return new Answer(status, HttpHeaders.of(headers, (name, value) -> true),
					new String(in.readAllBytes(), StandardCharsets.UTF_8));
		}
	}

	private static InputStream stream(String body) {
		return new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8));
	}

	/** Records of 64 bytes each, of which the last one may be cut off. */
	private static String records(int bytes) {
		StringBuilder records = new StringBuilder();
		for (int i = 0; records.length() < bytes; i++) {
			String record = "[\"SET\",\"key%09d\",\"".formatted(i);
			records.append(record).append("v".repeat(61 - record.length())).append("\"]\n");
		}
		records.setLength(bytes);
		return records.toString();
	}

}
