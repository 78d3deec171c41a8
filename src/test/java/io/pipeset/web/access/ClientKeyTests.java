package io.pipeset.web.access;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** If there are clients, a request without the key of one of them is refused. */
@ClientTest
class ClientKeyTests {

	private static final String RECORD = "[\"SET\",\"k\",\"v\"]\n";

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ClientKeyTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { "POST /pipeset/5", "POST /v1/jobs", "POST /v1/scripts", "POST /piperpop/5",
			"POST /listinput/l", "POST /v1/analyses", "POST /v1/tunings", "GET /v1/jobs", "GET /actuator",
			"GET /actuator/prometheus", "GET /actuator/pipeset", "GET /actuator/metrics/jvm.info", "GET /actuator/info",
			"GET /pipeset/5", "GET /nothing", "GET /error", "OPTIONS /v1/jobs", "DELETE /v1/jobs/1", "GET /",
			"GET /v3/api-docs", "GET /actuator/healthy" })
	void aCallerWithoutAKeyIsAskedForOne(String call) throws IOException {
		try (Wire wire = Wire.open(this.service, call + " HTTP/1.1", "Host: localhost", "Content-Length: 0",
				"Connection: close")) {
			Answer answer = wire.answer();
			assertThat(answer.refusal(401, "unauthorized")).contains("has no key", "Authorization: Bearer <key>",
					"pipeset.clients.<name>.key-sha256");
			assertThat(answer.header("WWW-Authenticate")).isEqualTo("Bearer");
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "Bearer key-of-order", "Bearer key-of-orders1", "Bearer KEY-OF-ORDERS",
			"Bearer key-of-orders key-of-orders", "Bearer", "Bearer ", "Bearer   ", "Bearer\tkey-of-orders",
			"key-of-orders", "Basic key-of-orders", "Basic b3JkZXJzOmtleS1vZi1vcmRlcnM=", "Token key-of-orders",
			"Bearer 9d00f085fa34266c949e527a29d62334c2aa67b652266e3e42de6cbcdeab2144", "Bearer orders",
			"Bearer \"key-of-orders\"", "Bearerkey-of-orders", "", "Bearer k\u00e9y" })
	void anUnknownKeyIsRefused(String header) throws IOException {
		assertWrong("Authorization: " + header);
	}

	@Test
	void aLongKeyIsRefused() throws IOException {
		assertWrong("Authorization: Bearer " + "x".repeat(7000));
		try (Wire wire = Wire.post(this.service, "/pipeset/1", "Authorization: Bearer " + "x".repeat(100_000))) {
			assertThat(wire.answer().status()).isEqualTo(431);
		}
	}

	@Test
	void twoKeysAreRefused() throws IOException {
		assertWrong("Authorization: Bearer " + ClientTest.ORDERS, "Authorization: Bearer " + ClientTest.ORDERS);
		assertWrong("Authorization: Bearer wrong", "Authorization: Bearer " + ClientTest.ORDERS);
	}

	private void assertWrong(String... headers) throws IOException {
		for (String path : new String[] { "/pipeset/1", "/actuator/health" }) {
			try (Wire wire = Wire.post(this.service, path, headers)) {
				Answer answer = wire.answer();
				assertThat(answer.refusal(401, "unauthorized")).doesNotContain("key-of-orders", "xxx");
				assertThat(answer.header("WWW-Authenticate")).isEqualTo("Bearer error=\"invalid_token\"");
			}
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "Bearer " + ClientTest.ORDERS, "bearer " + ClientTest.ORDERS,
			"BEARER   " + ClientTest.ORDERS + "  ", "Bearer " + ClientTest.NEXT_OF_ORDERS })
	void eachKeyOfAClientIsAccepted(String header) throws IOException {
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "authorization: " + header,
				"Content-Type: application/x-ndjson", "Content-Length: 26")) {
			assertThat(Answer.counts(wire.send("[\"SET\",\"order:1\",\"value\"]\n").answer().report()).applied())
				.isEqualTo(1);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "/actuator/health", "/actuator/health/liveness", "/actuator/health/readiness" })
	void healthNeedsNoKey(String path) {
		for (String key : new String[] { null, ClientTest.OPERATOR }) {
			assertThat(this.service.as(key).get(path).status()).isEqualTo(200);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "/actuator/health/../pipeset", "/actuator/health/..;/pipeset",
			"/actuator/health/%2e%2e/pipeset", "/actuator/health%2f..%2fpipeset", "/actuator/health;/../pipeset",
			"//actuator/health/../pipeset", "/actuator/health/./../pipeset", "/actuator/health\\..\\pipeset",
			"/actuator/healthx/../pipeset", "/console/../actuator/pipeset", "/console/%2e%2e/actuator/pipeset",
			"/actuator/health/%252e%252e/pipeset", "/actuator/pipeset/", "/ACTUATOR/health/../pipeset",
			"/actuator/pipeset;/actuator/health", "/v1/jobs?/actuator/health" })
	void noSpellingOfAnOpenPathOpensAnother(String path) throws IOException {
		try (Wire wire = Wire.open(this.service, "GET " + path + " HTTP/1.1", "Host: localhost", "Connection: close")) {
			Answer answer = wire.answer();
			assertThat(answer.status()).as(answer.text()).isIn(400, 401, 404);
			assertThat(answer.text()).doesNotContain("jobsRunning").doesNotContain("jobId");
		}
	}

	@Test
	void anOpenPathListsCallsForClientsOnly() {
		String path = "/console/nothing";
		assertThat(this.service.as(null).get(path).refusal(404, "not-found")).doesNotContain("POST");
		assertThat(this.service.as(ClientTest.BILLING).get(path).refusal(404, "not-found")).contains("POST /v1/jobs");
	}

	@Test
	void anyClientMayReadTheMetrics() {
		Service operator = this.service.as(ClientTest.OPERATOR);
		assertThat(operator.get("/actuator/pipeset").json().has("jobsRunning")).isTrue();
		assertThat(operator.get("/actuator/prometheus").text()).contains("pipeset_jobs_queued");
	}

	@Test
	void theAnswerComesBeforeTheBody() throws IOException {
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "Content-Type: application/x-ndjson",
				"Expect: 100-continue", "Content-Length: " + RECORD.length())) {
			wire.answer().refusal(401, "unauthorized");
		}
		this.service.as(null).post("/v1/jobs", Service.NDJSON, RECORD.repeat(500_000)).refusal(401, "unauthorized");
	}

	@ParameterizedTest
	@CsvSource({ "Host: pipeset.example:80, X-A: b, 200", "Host: localhost, Origin: https://evil.example, 403",
			"Host: pipeset.example, Origin: https://pipeset.example, 200" })
	void aServiceWithClientsAllowsAnyHostButNoForeignPage(String host, String header, int status) throws IOException {
		try (Wire wire = Wire.open(this.service, "POST /pipeset/1 HTTP/1.1", host, header,
				"Authorization: Bearer " + ClientTest.BILLING, "Content-Length: 0", "Connection: close")) {
			Answer answer = wire.answer();
			assertThat(answer.status()).as(answer.text()).isEqualTo(status);
		}
	}

	@Test
	void aStreamKeepsItsClientFromItsBeginningToItsEnd() throws IOException {
		byte[] records = RECORD.repeat(100_000).getBytes(StandardCharsets.UTF_8);
		assertThat(Answer
			.counts(this.service.upload("/v1/jobs", Service.NDJSON, new ByteArrayInputStream(records)).report())
			.applied()).isEqualTo(100_000);
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "Authorization: Bearer " + ClientTest.BILLING,
				"Content-Type: application/x-ndjson", "Transfer-Encoding: chunked")) {
			wire.chunk(RECORD);
			String id = this.service.awaitJob("running");
			try (Wire events = Wire.open(this.service, "GET /v1/jobs/" + id + "/events HTTP/1.1", "Host: localhost",
					"Authorization: Bearer " + ClientTest.BILLING, "Connection: close")) {
				List<String> head = readTo("event:progress", events);
				assertThat(head).filteredOn((line) -> line.startsWith("Cache-Control"))
					.containsExactly("Cache-Control: no-store");
				wire.lastChunk().answer().report();
				readTo("event:end", events);
			}
		}
	}

	private static List<String> readTo(String last, Wire wire) throws IOException {
		List<String> lines = new ArrayList<>();
		while (!lines.contains(last)) {
			lines.add(wire.line());
		}
		return lines;
	}

	@Test
	void anErrorOfTheContainerNeedsNoKey() throws IOException {
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "Authorization: Bearer " + ClientTest.BILLING,
				"Content-Type: application/x-ndjson", "Transfer-Encoding: chunked")) {
			assertThat(wire.send("no chunk\r\n").answer().problem(400, "malformed-body").has("job")).isTrue();
		}
	}

	@Test
	void answersForbidCachingAndSniffing() {
		for (String key : new String[] { null, ClientTest.BILLING }) {
			Answer answer = this.service.as(key).post("/pipeset/1");
			assertThat(answer.header("X-Content-Type-Options")).isEqualTo("nosniff");
			assertThat(answer.headers().allValues("Cache-Control")).containsExactly("no-store");
			assertThat(answer.headers().firstValue("Set-Cookie")).isEmpty();
		}
	}

}
