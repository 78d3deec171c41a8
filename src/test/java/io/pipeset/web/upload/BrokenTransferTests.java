package io.pipeset.web.upload;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPOutputStream;

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
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** A caller whose chunks are malformed is still connected, and is told about them. */
@ServiceTest(properties = "pipeset.security.scripts=true")
class BrokenTransferTests {

	private static final String RECORD = "[\"SET\",\"a\",\"1\"]\n";

	private final Service service;

	BrokenTransferTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		TestRedis.shared().client().flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { "zz\r\n", "5\rx", "0\r\nno trailer\r\n\r\n", "-1\r\n" })
	void brokenChunksAreAMalformedBody(String rest) throws IOException {
		try (Wire wire = Wire.upload(this.service, "/v1/jobs")) {
			Answer answer = wire.chunk(RECORD).send(rest).answer();
			JsonNode job = answer.job(400, "malformed-body", "failed");
			assertThat(Answer.counts(job)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
			assertThat(job.at("/byteOffset").asInt(-1)).isEqualTo(RECORD.length());
			assertThat(answer.json().at("/detail").asString())
				.startsWith("At byte " + RECORD.length() + " of the body: ")
				.contains("chunked");
		}
	}

	@Test
	void theyAreOneBelowGzipToo() throws IOException {
		ByteArrayOutputStream gzip = new ByteArrayOutputStream();
		try (GZIPOutputStream out = new GZIPOutputStream(gzip)) {
			out.write(RECORD.getBytes(StandardCharsets.US_ASCII));
		}
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "Content-Type: application/x-ndjson",
				"Content-Encoding: gzip", "Transfer-Encoding: chunked")) {
			Answer answer = wire.chunk(gzip.toByteArray()).send("zz\r\n").answer();
			answer.job(400, "malformed-body", "failed");
			assertThat(answer.json().at("/detail").asString())
				.startsWith("At byte " + gzip.size() + " of the compressed body: ");
		}
	}

	@Test
	void aScriptInBrokenChunksIsRefused() throws IOException {
		try (Wire wire = Wire.post(this.service, "/v1/scripts", "Transfer-Encoding: chunked")) {
			wire.chunk("return 1").send("zz\r\n").answer().refusal(400, "malformed-body");
		}
	}

	/**
	 * Spring would read a whole form into memory, however large, before the service sees
	 * it.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "PUT", "PATCH", "DELETE" })
	void aFormIsReadByNobody(String method) throws IOException {
		try (Wire wire = Wire.open(this.service, method + " /v1/jobs HTTP/1.1",
				"Host: 127.0.0.1:" + this.service.port(), "Content-Type: application/x-www-form-urlencoded",
				"Transfer-Encoding: chunked")) {
			wire.chunk("a=1").answer().refusal(405, "method-not-allowed");
		}
	}

}
