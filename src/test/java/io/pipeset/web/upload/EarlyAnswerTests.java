package io.pipeset.web.upload;

import java.io.BufferedWriter;
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
import java.util.stream.Collectors;
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
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

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

	/** Each line of the input is a call, and each line of the output its answer. */
	private static final String PYTHON_URLLIB = """
			import json, sys, urllib.request, urllib.error
			for line in sys.stdin:
			    url, media, path, chunked = line.rstrip('\\n').split('\\t')
			    with open(path, 'rb') as body:
			        data = body if chunked == 'true' else body.read()
			        request = urllib.request.Request(url, data=data, headers={'Content-Type': media}, method='POST')
			        if chunked == 'true':
			            request.add_header('Transfer-Encoding', 'chunked')
			        try:
			            answer = urllib.request.urlopen(request, timeout=60)
			        except urllib.error.HTTPError as error:
			            answer = error
			        with answer:
			            print(json.dumps([answer.code, answer.read().decode()]), flush=True)
			""";

	private static final String PYTHON_REQUESTS = """
			import json, sys, requests
			for line in sys.stdin:
			    url, media, path, chunked = line.rstrip('\\n').split('\\t')
			    with open(path, 'rb') as body:
			        data = iter(lambda: body.read(65536), b'') if chunked == 'true' else body
			        answer = requests.post(url, data=data, headers={'Content-Type': media}, timeout=60)
			        print(json.dumps([answer.status_code, answer.text]), flush=True)
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
	static void end() {
		Client.interpreters.values().forEach(Process::destroy);
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
				return python(EarlyAnswerTests.PYTHON_URLLIB, "urllib.request", service.uri(path).toString(), type,
						body.toString(), "" + chunked);
			}

		},

		PYTHON_REQUESTS {

			@Override
			Answer post(Service service, String path, String type, Path body, boolean chunked) throws Exception {
				return python(EarlyAnswerTests.PYTHON_REQUESTS, "requests", service.uri(path).toString(), type,
						body.toString(), "" + chunked);
			}

		};

		private static final Map<List<String>, Boolean> installed = new HashMap<>();

		/**
		 * Interpreters take longer to start than a call, and make one after the other.
		 */
		private static final Map<String, Process> interpreters = new HashMap<>();

		abstract Answer post(Service service, String path, String type, Path body, boolean chunked) throws Exception;

		private static Answer run(List<String> probe, List<String> command) throws Exception {
			require(probe);
			Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
			String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
			assertThat(output).matches("(?s).*\\n\\d{3}");
			int lineEnd = output.lastIndexOf('\n');
			return answer(Integer.parseInt(output.substring(lineEnd + 1)), output.substring(0, lineEnd));
		}

		private static Answer python(String script, String module, String... call) throws IOException {
			require(List.of("python3", "-c", "import " + module));
			Process python = interpreters.get(script);
			if (python == null) {
				python = new ProcessBuilder("python3", "-c", script).redirectErrorStream(true).start();
				interpreters.put(script, python);
			}
			BufferedWriter calls = python.outputWriter(StandardCharsets.UTF_8);
			calls.write(String.join("\t", call) + "\n");
			calls.flush();
			String line = python.inputReader(StandardCharsets.UTF_8).readLine();
			if (line == null || !line.startsWith("[")) {
				interpreters.remove(script);
				throw new AssertionError(line + "\n"
						+ python.inputReader(StandardCharsets.UTF_8).lines().collect(Collectors.joining("\n")));
			}
			JsonNode answer = new JsonMapper().readTree(line);
			return answer(answer.get(0).asInt(), answer.get(1).asString());
		}

		private static void require(List<String> probe) {
			Assumptions.assumeTrue(installed.computeIfAbsent(probe, Client::isInstalled),
					() -> String.join(" ", probe) + " does not work here");
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
