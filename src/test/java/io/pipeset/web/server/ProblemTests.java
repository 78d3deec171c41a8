package io.pipeset.web.server;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import org.springframework.http.MediaType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every failure is answered with problem details, even if Tomcat or Actuator detects it.
 */
@ServiceTest
class ProblemTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ProblemTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/nothing", "/pipeset", "/pipeset/1/2", "/v1", "/v1/jobs/1/x", "/listinput/" })
	void anUnknownPathIsNotFound(String path) {
		this.service.post(path).refusal(404, "not-found");
	}

	@ParameterizedTest
	@CsvSource({ "/pipeset, POST /pipeset/{count}", "/pipeset/?flush=each, POST /pipeset/{count}",
			"/pipehset, POST /pipehset/{count}", "/piperpop, POST /piperpop/{count}",
			"/listinput, POST /listinput/{key}", "/pipeset/1/2, POST /pipeset/{count}", "/v1/job, POST /v1/jobs",
			"/v1/analysis, POST /v1/analyses", "/v1/job/1/ack, POST /v1/jobs/{id}/ack",
			"/v1/job/1/nack, POST /v1/jobs/{id}/nack", "/v1/script, POST /v1/scripts", "/v1/tuning, POST /v1/tunings" })
	void anUnknownPathIsAnsweredWithTheKnownCalls(String path, String call) {
		assertThat(this.service.post(path).refusal(404, "not-found")).contains(call);
	}

	@Test
	void internalCallsAreNotAmongTheKnownCalls() {
		assertThat(this.service.post("/nothing").refusal(404, "not-found")).doesNotContain("/error")
			.doesNotContain("{*");
	}

	@ParameterizedTest
	@ValueSource(strings = { "GET //", "POST //", "POST //pipeset/1", "GET //actuator/health", "DELETE //?a=b" })
	void aPathThatBeginsWithAHostIsRefused(String call) throws IOException {
		try (Wire wire = Wire.open(this.service, call + " HTTP/1.1", "Host: localhost", "Content-Length: 0")) {
			assertThat(wire.answer().refusal(400, "bad-request")).contains("'//").contains("two slashes");
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "GET /v1/jobs", "POST /v1/jobs", "DELETE /v1/jobs/a", "GET /", "GET /actuator/health" })
	void anInvalidCharsetNameIsRefused(String call) throws IOException {
		try (Wire wire = Wire.open(this.service, call + " HTTP/1.1", "Host: localhost", "Content-Length: 0",
				"Content-Type: text/csv; charset=\"none such\"")) {
			assertThat(wire.answer().refusal(400, "bad-request")).contains("'none?such'", "Content-Type", "UTF-8");
		}
	}

	@Test
	void anEmptyCharsetNameIsRefused() throws IOException {
		try (Wire wire = Wire.open(this.service, "POST /v1/jobs HTTP/1.1", "Host: localhost", "Content-Length: 0",
				"Content-Type: text/csv; charset=")) {
			assertThat(wire.answer().refusal(400, "bad-request")).contains("charset ''", "Content-Type");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "/actuator/metrics/nope", "/actuator/health/nope", "/actuator/health/a/a",
			"/actuator/health/redis/a/a", "/actuator/health/readiness/a/b/c", "/actuator/nope" })
	void anUnknownPathOfActuatorIsNotFound(String path) {
		this.service.get(path).refusal(404, "not-found");
	}

	@ParameterizedTest
	@ValueSource(strings = { "a=%zz", "%", "%ff", "a%0a=%zz" })
	void actuatorRefusesAnInvalidQueryToo(String query) throws IOException {
		for (String path : new String[] { "/actuator/health", "/actuator/prometheus", "/actuator/metrics/a" }) {
			try (Wire wire = Wire.open(this.service, "GET " + path + "?" + query + " HTTP/1.1", "Host: localhost")) {
				assertThat(wire.answer().refusal(400, "bad-request")).contains("percent-encoded")
					.doesNotContain("'" + query + "'");
			}
		}
		assertThat(this.service.get("/actuator/health?" + "a&".repeat(1001)).refusal(400, "bad-request"))
			.contains("server.tomcat.max-parameter-count");
	}

	@Test
	void aTooLargeHeadIsExplained() throws IOException {
		String many = "A: a\r\n".repeat(101).strip();
		for (String header : new String[] { "A: " + "a".repeat(8192), many }) {
			try (Wire wire = Wire.open(this.service, "GET / HTTP/1.1", "Host: localhost", header)) {
				Answer answer = wire.answer();
				assertThat(answer.status()).isEqualTo(431);
				assertThat(answer.json().at("/detail").asString()).contains("8192 bytes")
					.contains("server.max-http-request-header-size")
					.contains("100 headers");
			}
		}
	}

	@Test
	void aGetOfAnUnknownPathIsExplainedToo() {
		assertThat(this.service.get("/pipeset").refusal(404, "not-found")).contains("POST /pipeset/{count}");
	}

	@ParameterizedTest
	@CsvSource({ "PUT, /v1/jobs, GET POST", "DELETE, /v1/jobs, GET POST", "PUT, /pipeset/5, POST",
			"DELETE, /pipeset/5, POST", "PATCH, /listinput/list, POST" })
	void aWrongMethodIsRefusedWithTheAllowedMethods(String method, String path, String right) {
		Answer answer = this.service.send(this.service.request(path).method(method, BodyPublishers.noBody()));
		answer.refusal(405, "method-not-allowed");
		assertThat(answer.header("Allow").split(", ")).containsExactlyInAnyOrder(right.split(" "));
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "application/json", "text/html", "text/plain", "image/png", "application/problem+json",
			"x", "x/", "*", ";", "text/html;q=x" })
	void anAcceptHeaderDoesNotChangeAProblem(String accept) {
		this.service.send(this.service.request("/pipeset/abc").header("Accept", accept).POST(BodyPublishers.noBody()))
			.refusal(400, "invalid-count");
		this.service.send(this.service.request("/nothing").header("Accept", accept).GET()).refusal(404, "not-found");
		this.service.send(this.service.request("/pipeset/1").header("Accept", accept).GET())
			.refusal(405, "method-not-allowed");
	}

	@ParameterizedTest
	@ValueSource(strings = { "text/html", "application/problem+json", "image/png", "x", "*" })
	void anAcceptHeaderDoesNotChangeAReport(String accept) {
		this.service.send(this.service.request("/pipeset/3").header("Accept", accept).POST(BodyPublishers.noBody()))
			.report();
		assertThat(this.redis.dbsize()).isEqualTo(3);
	}

	@ParameterizedTest
	@ValueSource(strings = { "*/*", "text/*", "x", "text/plain", "application/json" })
	void aGetMayHaveAnyContentType(String type) {
		for (String path : new String[] { "/actuator/prometheus", "/actuator/health", "/actuator/pipeset",
				"/actuator/metrics/pipeset.job" }) {
			Answer answer = this.service.send(this.service.request(path).header("Content-Type", type).GET());
			assertThat(answer.status()).as(path).isEqualTo(200);
			answer = this.service.send(this.service.request(path).header("Accept", type).GET());
			if (answer.status() != 200) {
				answer.refusal(406, "not-acceptable");
			}
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "/v1/scripts", "/v1/jobs", "/pipeset/1" })
	void aPostWithAnInvalidContentTypeIsRefused(String path) {
		for (String type : new String[] { "*/*", "x", ";", "/" }) {
			Answer answer = this.service.post(path, type, "[\"DEL\",\"k\"]");
			answer.refusal((path.contains("scripts")) ? 403 : 415,
					(path.contains("scripts")) ? "forbidden" : "unsupported-media-type");
		}
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "/listinput/%FF?count=1", "/listinput/%zz?count=1", "/pipeset/1?batchSize=%zz", "/pipeset/1?%",
					"/pipeset/{1}", "/listinput/a\\b?count=1", "/listinput/a%5Cb?count=1", "/listinput/a%00b?count=1" })
	void requestsThatTomcatRefusesAreProblemsToo(String path) throws IOException {
		try (Wire wire = Wire.post(this.service, path, "Content-Length: 0")) {
			Answer answer = wire.answer();
			assertThat(answer.status()).isEqualTo(400);
			assertThat(MediaType.valueOf(answer.header("Content-Type")))
				.matches(MediaType.APPLICATION_PROBLEM_JSON::equalsTypeAndSubtype);
			assertThat(answer.json().at("/type").asString()).startsWith("urn:pipeset:problem:");
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/1?flush=", "/pipeset/1?batchSize=", "/v1/jobs?op=", "/pipeset/1?", "/pipeset/",
			"/piperpop/1?receiptTtl=", "/v1/scripts?", "/v1/jobs/1/ack?" })
	void quotedValuesAreShortened(String path) {
		Answer answer = this.service.post(path + "9".repeat(3000));
		assertThat(answer.status()).isBetween(400, 499);
		assertThat(answer.json().at("/detail").asString()).hasSizeLessThan(600)
			.contains("9".repeat(60))
			.contains("… (3000 bytes)'");
	}

	@Test
	void aBrokenJsonArrayEndsTheJobWithItsOffset() {
		String good = "[{\"op\":\"SET\",\"key\":\"a\",\"value\":\"é\"},[\"SET\",\"b\",\"2\"],";
		Answer answer = this.service.post("/v1/jobs", Service.JSON, good + "{\"op\" \"SET\"},[\"SET\",\"c\",\"3\"]]");
		JsonNode job = answer.job(400, "malformed-body", "failed");
		int offset = good.getBytes(StandardCharsets.UTF_8).length + "{\"op\" ".length();
		assertThat(job.at("/byteOffset").asInt(-1)).isEqualTo(offset);
		assertThat(answer.json().at("/detail").asString()).contains(Integer.toString(offset));
		assertThat(Answer.counts(job)).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(job.at("/inputComplete").asBoolean(true)).isFalse();
		assertThat(job.at("/nextIndex").asInt(-1)).isEqualTo(2);
		assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("a", "b");
		assertThat(this.redis.get("a")).isEqualTo("é");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			"SET"                           | 0
			''                              | 0
			[["SET","a","1"]                | 16
			[["SET","a","1"] ["SET","b"]]   | 17
			[["SET","a","1"]] x             | 18
			""")
	void anInvalidArrayEndsTheJobAtTheFirstWrongByte(String body, int offset) {
		JsonNode job = this.service.post("/v1/jobs", Service.JSON, body).job(400, "malformed-body", "failed");
		assertThat(job.at("/byteOffset").asInt(-1)).isEqualTo(offset);
		assertThat(this.redis.dbsize()).isEqualTo(Answer.counts(job).applied());
	}

	@Test
	void recordsBeforeAMalformedOneStayInRedis() {
		JsonNode job = this.service
			.upload("/v1/jobs?op=SET&concurrency=4", Service.JSON,
					Lines.of(100_001,
							(i) -> (i == 100_000) ? "}" : ((i == 0) ? "[" : "") + "{\"key\":" + i + ",\"value\":1},"))
			.job(400, "malformed-body", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(100_000, 100_000, 0, 0, 0, 0));
		assertThat(this.redis.dbsize()).isEqualTo(100_000);
	}

}
