package io.pipeset.web.upload;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A caller that is still uploading can read an early answer, with any client. */
@ServiceTest(properties = { "pipeset.limits.max-body-bytes=16MB", "pipeset.limits.max-running-jobs=1",
		"pipeset.limits.max-waiting-jobs=0" })
class EarlyAnswerTests {

	/** The size of a body that is larger than the buffers of a connection. */
	private static final int LARGE = 14 << 20;

	/** The size of a body that exceeds the limit by more than those buffers hold. */
	private static final int TOO_LARGE = 20 << 20;

	private static final String PYTHON_URLLIB = """
			import sys, urllib.request, urllib.error
			url, media, path, chunked = sys.argv[1:5]
			body = open(path, 'rb')
			data = body if chunked == 'true' else body.read()
			request = urllib.request.Request(url, data=data, headers={'Content-Type': media}, method='POST')
			if chunked == 'true':
			    request.add_header('Transfer-Encoding', 'chunked')
			try:
			    answer = urllib.request.urlopen(request, timeout=60)
			except urllib.error.HTTPError as error:
			    answer = error
			sys.stdout.write(answer.read().decode() + '\\n' + str(answer.code))
			""";

	private static final String PYTHON_REQUESTS = """
			import sys, requests
			url, media, path, chunked = sys.argv[1:5]
			body = open(path, 'rb')
			data = iter(lambda: body.read(65536), b'') if chunked == 'true' else body
			answer = requests.post(url, data=data, headers={'Content-Type': media}, timeout=60)
			sys.stdout.write(answer.text + '\\n' + str(answer.status_code))
			""";

	@TempDir
	private static Path directory;

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	EarlyAnswerTests(Service service) {
		this.service = service;
	}

	@BeforeAll
	static void bodies() throws IOException {
		for (int size : List.of(LARGE, TOO_LARGE)) {
			byte[] body = "[\"SET\",\"key\",\"value\"]\n".repeat(size / 22 + 1).getBytes(StandardCharsets.US_ASCII);
			body[0] = 'x';
			Files.write(directory.resolve(Integer.toString(size)), Arrays.copyOf(body, size));
		}
	}

	@AfterAll
	static void emptyRedisAgain() {
		TestRedis.shared().client().flushall();
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	static Stream<Arguments> calls() {
		return Stream.of(Client.values())
			.flatMap((client) -> Stream.of(true, false)
				.flatMap((chunked) -> Stream.of(Early.values())
					.map((early) -> Arguments.of(client, (chunked) ? "chunked" : "with its length", early))));
	}

	@ParameterizedTest
	@MethodSource("calls")
	void everyClientReadsAnAnswerThatComesBeforeItsUploadIsThrough(Client client, String how, Early early)
			throws Exception {
		List<Wire> open = new ArrayList<>();
		try {
			if (early == Early.TOO_MANY_JOBS) {
				open.add(Wire.upload(this.service, "/v1/jobs"));
				await().until(() -> running() == 1);
			}
			Path body = directory.resolve(Integer.toString(early.bytes));
			Answer answer = client.post(this.service, early.path, early.mediaType, body, how.equals("chunked"));
			assertThat(answer.status()).as(answer.text()).isEqualTo(early.status);
			assertThat(answer.json().at("/type").asString()).isEqualTo("urn:pipeset:problem:" + early.type);
		}
		finally {
			for (Wire wire : open) {
				wire.close();
			}
		}
		await().until(() -> running() == 0);
		assertThat(this.service.post("/pipeset/3").report().at("/counts/applied").asInt()).isEqualTo(3);
	}

	private int running() {
		return this.service.get("/actuator/pipeset").json().at("/jobsRunning").asInt(-1);
	}

	/** The answers for which no body is read to its end. */
	enum Early {

		INVALID_SETTING("/v1/jobs?batchSize=0", Service.NDJSON, LARGE, 400, "invalid-setting"),

		UNKNOWN_MEDIA_TYPE("/v1/jobs", "text/html", LARGE, 415, "unsupported-media-type"),

		TOO_MANY_ERRORS("/v1/jobs?maxErrors=0", Service.NDJSON, LARGE, 422, "stopped"),

		COUNT_EXCEEDED("/pipeset/5", Service.NDJSON, LARGE, 422, "count-mismatch"),

		TOO_MANY_JOBS("/v1/jobs", Service.NDJSON, LARGE, 429, "limit"),

		BODY_TOO_LARGE("/v1/jobs", Service.NDJSON, TOO_LARGE, 413, "limit");

		private final String path;

		private final String mediaType;

		private final int bytes;

		private final int status;

		private final String type;

		Early(String path, String mediaType, int bytes, int status, String type) {
			this.path = path;
			this.mediaType = mediaType;
			this.bytes = bytes;
			this.status = status;
			this.type = type;
		}

	}

	/** The clients that other services use. */
	enum Client {

		HTTP_URL_CONNECTION {

			@Override
			Answer post(Service service, String path, String type, Path body, boolean chunked) throws IOException {
				HttpURLConnection connection = (HttpURLConnection) service.uri(path).toURL().openConnection();
				connection.setRequestMethod("POST");
				connection.setDoOutput(true);
				connection.setReadTimeout(60_000);
				connection.setRequestProperty("Content-Type", type);
				if (chunked) {
					connection.setChunkedStreamingMode(8192);
				}
				else {
					connection.setFixedLengthStreamingMode(Files.size(body));
				}
				try (OutputStream out = connection.getOutputStream()) {
					Files.copy(body, out);
				}
				int status = connection.getResponseCode();
				try (InputStream error = connection.getErrorStream()) {
					return answer(status, new String(error.readAllBytes(), StandardCharsets.UTF_8));
				}
			}

		},

		HTTP_CLIENT {

			@Override
			Answer post(Service service, String path, String type, Path body, boolean chunked) throws IOException {
				BodyPublisher publisher = (chunked) ? BodyPublishers.ofInputStream(() -> open(body))
						: BodyPublishers.ofFile(body);
				return service.send(service.request(path).header("Content-Type", type).POST(publisher));
			}

		},

		CURL {

			@Override
			Answer post(Service service, String path, String type, Path body, boolean chunked) throws Exception {
				return run(List.of("curl", "--version"),
						List.of("curl", "-sS", "-m", "60", "-X", "POST", "-T", body.toString(), "-H",
								"Content-Type: " + type, "-H",
								(chunked) ? "Transfer-Encoding: chunked" : "X-Length: whole", "-w", "\\n%{http_code}",
								service.uri(path).toString()));
			}

		},

		PYTHON_URLLIB {

			@Override
			Answer post(Service service, String path, String type, Path body, boolean chunked) throws Exception {
				return run(List.of("python3", "-c", "import urllib.request"),
						List.of("python3", "-c", EarlyAnswerTests.PYTHON_URLLIB, service.uri(path).toString(), type,
								body.toString(), "" + chunked));
			}

		},

		PYTHON_REQUESTS {

			@Override
			Answer post(Service service, String path, String type, Path body, boolean chunked) throws Exception {
				return run(List.of("python3", "-c", "import requests"),
						List.of("python3", "-c", EarlyAnswerTests.PYTHON_REQUESTS, service.uri(path).toString(), type,
								body.toString(), "" + chunked));
			}

		};

		private static final Map<List<String>, Boolean> installed = new HashMap<>();

		abstract Answer post(Service service, String path, String type, Path body, boolean chunked) throws Exception;

		private static Answer run(List<String> probe, List<String> command) throws Exception {
			Assumptions.assumeTrue(installed.computeIfAbsent(probe, Client::isInstalled),
					() -> String.join(" ", probe) + " does not work here");
			Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
			String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
			assertThat(output).matches("(?s).*\\n\\d{3}");
			int lineEnd = output.lastIndexOf('\n');
			return answer(Integer.parseInt(output.substring(lineEnd + 1)), output.substring(0, lineEnd));
		}

		private static boolean isInstalled(List<String> probe) {
			try {
				Process process = new ProcessBuilder(probe).redirectErrorStream(true)
					.redirectOutput(ProcessBuilder.Redirect.DISCARD)
					.start();
				return process.waitFor() == 0;
			}
			catch (IOException ex) {
				return false;
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException(ex);
			}
		}

		private static Answer answer(int status, String text) {
			return new Answer(status, HttpHeaders.of(Map.of(), (name, value) -> true), text);
		}

		private static InputStream open(Path body) {
			try {
				return Files.newInputStream(body);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
