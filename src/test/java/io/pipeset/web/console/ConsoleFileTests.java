package io.pipeset.web.console;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;

import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The files of the console, as the service serves them. */
@ServiceTest
class ConsoleFileTests {

	private static final Path FILES = Path.of("src/main/resources/console");

	private static final int MOST_BYTES = 150_000;

	private final Service service;

	ConsoleFileTests(Service service) {
		this.service = service;
	}

	@Test
	void thePageIsAtItsPathWithOrWithoutASlash() {
		Answer answer = this.service.get("/console");
		assertThat(answer.status()).isEqualTo(302);
		assertThat(answer.header("Location")).endsWith("/console/");
		assertThat(this.service.get("/console/").text()).contains("<title>Pipeset</title>");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "index.html", "console.js", "console.css" })
	void contentOfOtherHostsAndInlineContentIsForbidden(String file) {
		Answer answer = this.service.get("/console/" + file);
		assertThat(answer.status()).isEqualTo(200);
		assertThat(answer.header("Content-Security-Policy")).startsWith("default-src 'self'; ")
			.contains("frame-ancestors 'none'", "require-trusted-types-for 'script'")
			.doesNotContain("unsafe", "http");
		assertThat(answer.header("X-Content-Type-Options")).isEqualTo("nosniff");
	}

	@Test
	void aCachedFileIsNotSentAgain() {
		Answer first = this.service.get("/console/load.js");
		assertThat(first.header("Cache-Control")).isEqualTo("no-cache");
		assertThat(first.header("Content-Type")).startsWith("text/javascript");
		Answer second = this.service
			.send(this.service.request("/console/load.js").header("If-None-Match", first.header("ETag")).GET());
		assertThat(second.status()).isEqualTo(304);
		assertThat(second.text()).isEmpty();
		assertThat(this.service.get("/console/job.js").header("ETag")).isNotEqualTo(first.header("ETag"));
	}

	@Test
	void filesAreCompressedAndReportsAreNot() {
		assertThat(encoding("/console/load.js")).isEqualTo("gzip");
		assertThat(encoding("/console/")).isEqualTo("gzip");
		assertThat(encoding("/v1/jobs?limit=1000")).isNull();
	}

	private String encoding(String path) {
		return this.service.send(this.service.request(path).header("Accept-Encoding", "gzip").GET())
			.headers()
			.firstValue("Content-Encoding")
			.orElse(null);
	}

	@Test
	void allFilesAreSmallAndNameNoOtherHost() throws IOException {
		long bytes = 0;
		for (Path file : files()) {
			String text = Files.readString(file);
			assertThat(text.replace("http://www.w3.org/2000/svg", "")).as(file.toString())
				.doesNotContainPattern("https?://|innerHTML|eval\\(|\\bstyle=");
			ByteArrayOutputStream packed = new ByteArrayOutputStream();
			try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
				gzip.write(Files.readAllBytes(file));
			}
			bytes += packed.size();
		}
		assertThat(bytes).as("the bytes of all files as gzip").isLessThan(MOST_BYTES);
	}

	@Test
	void anUnknownFileIsAProblem() {
		this.service.get("/console/nothing.js").refusal(404, "not-found");
		this.service.post("/console/").refusal(405, "method-not-allowed");
	}

	private static List<Path> files() throws IOException {
		try (Stream<Path> files = Files.list(FILES)) {
			return files.toList();
		}
	}

}
