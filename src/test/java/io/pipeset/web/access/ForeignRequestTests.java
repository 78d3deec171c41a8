package io.pipeset.web.access;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;

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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** No foreign web page writes to Redis through the browser of its reader. */
@ServiceTest
class ForeignRequestTests {

	private static final String RECORDS = "[\"SET\",\"k\",\"v\"]\n";

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ForeignRequestTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { "POST /pipeset/5", "POST /v1/jobs", "POST /v1/scripts", "POST /piperpop/5",
			"POST /listinput/l", "GET /actuator", "GET /actuator/health", "GET /actuator/prometheus", "GET /pipeset/5",
			"GET /nothing", "GET /error", "OPTIONS /v1/jobs", "DELETE /v1/jobs", "GET /" })
	void aForeignHostIsRefusedForEachCall(String call) throws IOException {
		try (Wire wire = Wire.open(this.service, call + " HTTP/1.1", "Host: evil.example:" + this.service.port(),
				"Content-Length: 0", "Connection: close")) {
			assertThat(wire.answer().refusal(403, "foreign-request")).contains("Host")
				.contains("'evil.example:" + this.service.port() + "'")
				.contains("localhost")
				.contains("pipeset.security.allowed-hosts");
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/5", "/v1/jobs", "/piperpop/1", "/listinput/l", "/v1/scripts", "/nothing" })
	void aForeignPageIsRefused(String path) {
		for (String origin : new String[] { "https://evil.example", "null" }) {
			assertThat(
					this.service.send(this.service.request(path).header("Origin", origin).POST(BodyPublishers.noBody()))
						.refusal(403, "foreign-request"))
				.contains("Origin")
				.contains("'" + origin + "'")
				.contains("pipeset.security.allowed-hosts");
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "text/plain, 'SET k v'", "application/x-www-form-urlencoded, 'a=b'", "multipart/form-data, 'x'",
			"application/x-ndjson, '[\"SET\",\"k\",\"v\"]'" })
	void aFormIsRefusedBeforeItsBodyIsRead(String type, String body) {
		this.service
			.send(this.service.request("/v1/jobs")
				.header("Content-Type", type)
				.header("Origin", "https://evil.example")
				.POST(BodyPublishers.ofString(body)))
			.refusal(403, "foreign-request");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "no-cors, image", "no-cors, script", "navigate, iframe", "navigate, document", "cors, empty" })
	void aPageOfAnotherSiteThatNamesNoOriginIsRefusedUnlessItIsALink(String mode, String destination) {
		for (String method : new String[] { "GET", "POST", "HEAD" }) {
			Answer answer = this.service.send(this.service.request("/v1/jobs")
				.header("Sec-Fetch-Site", "cross-site")
				.header("Sec-Fetch-Mode", mode)
				.header("Sec-Fetch-Dest", destination)
				.method(method, BodyPublishers.noBody()));
			boolean link = method.equals("GET") && destination.equals("document");
			assertThat(answer.status()).as(method).isEqualTo((link) ? 200 : 403);
		}
		for (String site : new String[] { "same-origin", "same-site", "none" }) {
			assertThat(
					this.service.send(this.service.request("/v1/jobs").header("Sec-Fetch-Site", site).GET()).status())
				.isEqualTo(200);
		}
		assertThat(this.service.send(this.service.request("/v1/jobs").header("Sec-Fetch-Site", "cross-site").GET())
			.refusal(403, "foreign-request")).contains("Sec-Fetch-Site", "another site");
		assertThat(this.service
			.send(this.service.request("/v1/jobs")
				.header("Sec-Fetch-Site", "cross-site")
				.header("Origin", "http://localhost:3000")
				.GET())
			.status()).as("a page that may call").isEqualTo(200);
	}

	@Test
	void aPreflightIsRefused() {
		Answer answer = this.service.send(this.service.request("/v1/jobs")
			.header("Origin", "https://evil.example")
			.header("Access-Control-Request-Method", "POST")
			.method("OPTIONS", BodyPublishers.noBody()));
		answer.refusal(403, "foreign-request");
		assertThat(answer.headers().map().keySet()).noneMatch((name) -> name.startsWith("access-control-"));
	}

	@Test
	void everyOriginIsChecked() {
		this.service
			.send(this.service.request("/pipeset/1")
				.header("Origin", "http://localhost")
				.header("Origin", "http://evil.example")
				.POST(BodyPublishers.noBody()))
			.refusal(403, "foreign-request");
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "localhost", "LOCALHOST:8080", "localhost.:8080", "127.0.0.1", "127.8.8.8:1", "[::1]:8080" })
	void everyNameOfLoopbackIsAllowed(String host) throws IOException {
		try (Wire wire = Wire.open(this.service, "POST /v1/jobs HTTP/1.1", "Host: " + host,
				"Content-Type: application/x-ndjson", "Content-Length: " + RECORDS.length(),
				"Origin: http://localhost:3000", "Connection: close")) {
			assertThat(Answer.counts(wire.send(RECORDS).answer().report())).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		}
	}

	@Test
	void aRequestWithoutAHostIsRefused() throws IOException {
		try (Wire wire = Wire.open(this.service, "POST /pipeset/1 HTTP/1.0")) {
			assertThat(wire.answer().refusal(403, "foreign-request")).contains("no header Host");
		}
		try (Wire wire = Wire.open(this.service, "POST /pipeset/1 HTTP/1.1", "Host:", "Connection: close")) {
			wire.answer().refusal(403, "foreign-request");
		}
		try (Wire wire = Wire.open(this.service, "POST /pipeset/1 HTTP/1.1", "Connection: close")) {
			assertThat(wire.answer().status()).isEqualTo(400);
		}
		try (Wire wire = Wire.open(this.service, "POST http://localhost/pipeset/1 HTTP/1.1", "Host: evil.example",
				"Connection: close")) {
			assertThat(wire.answer().status()).isEqualTo(400);
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void theAnswerComesBeforeTheBody() throws IOException {
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "Content-Type: application/x-ndjson",
				"Origin: http://evil.example", "Expect: 100-continue", "Content-Length: " + RECORDS.length())) {
			assertThat(wire.answer().refusal(403, "foreign-request")).contains("evil.example");
		}
	}

	@Test
	void aCallerThatIsStillUploadingReadsTheAnswer() {
		this.service
			.send(this.service.request("/v1/jobs")
				.header("Content-Type", Service.NDJSON)
				.header("Origin", "http://evil.example")
				.POST(BodyPublishers.ofString(RECORDS.repeat(500_000))))
			.refusal(403, "foreign-request");
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void theAnswerQuotesAHeaderShortAndPrintable() throws IOException {
		try (Wire wire = Wire.post(this.service, "/pipeset/1",
				"Origin: http://\"<script>\u00e9\\" + "x".repeat(5000) + "\"", "Content-Length: 0")) {
			assertThat(wire.answer().refusal(403, "foreign-request")).contains("'http://??script????x")
				.contains("xxx...'")
				.hasSizeLessThan(400);
		}
	}

}
