package io.pipeset.web.callback;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.web.callback.Receiver.Post;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The receivers of {@code docs/clients} take what the service sends, and nothing that its
 * secret has not signed, or not lately.
 */
@ServiceTest(properties = { "pipeset.callbacks.secret=" + CallbackTests.SECRETS, "spring.data.redis.database=6" })
class CallbackReceiverTests {

	private static final String SECRET = CallbackTests.SECRETS.split(",", -1)[0];

	private static final Path PROGRAMS = Path.of("docs", "clients").toAbsolutePath();

	private static final int port = TestRedis.freePort();

	private final Service service;

	CallbackReceiverTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void allow(DynamicPropertyRegistry properties) {
		properties.add("pipeset.callbacks.allowed", CallbackReceiverTests::url);
	}

	private static String url() {
		return "http://127.0.0.1:" + port + "/hooks";
	}

	@Test
	void eachReceiverOfTheFolderIsRun() throws IOException {
		try (var files = Files.list(PROGRAMS)) {
			assertThat(files.map((file) -> file.getFileName().toString())
				.filter((name) -> name.toLowerCase(Locale.ROOT).startsWith("receive")))
				.containsExactlyInAnyOrder("receive.py", "receive.mjs", "receive.go", "Receive.java");
		}
	}

	@ParameterizedTest
	@CsvSource({ "receive.py, python3 --version, python3", "receive.mjs, node --version, node",
			"receive.go, go version, go run", "Receive.java, '', java -XX:TieredStopAtLevel=1" })
	void aReceiverTakesOnlyWhatIsSigned(String program, String check, String command, @TempDir Path folder)
			throws Exception {
		assumeTrue(check.isEmpty() || isThere(check), "The tools of docs/clients/" + program + " are not there");
		File output = folder.resolve("output").toFile();
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		ProcessBuilder builder = new ProcessBuilder("bash", "-c",
				"exec " + command.replaceFirst("^java", java) + " " + PROGRAMS.resolve(program) + " " + port)
			.directory(folder.toFile())
			.redirectError(folder.resolve("errors").toFile())
			.redirectOutput(output);
		builder.environment()
			.putAll(Map.of("PIPESET_CALLBACK_SECRET", SECRET, "GOFLAGS", "-mod=mod", "GOPROXY", "off"));
		Process process = builder.start();
		try {
			await().ignoreException(ConnectException.class).until(() -> send(Map.of(), "{}") == 401);
			String id = begin();
			await().untilAsserted(
					() -> assertThat(Files.readString(output.toPath())).contains(id, "completed", "applied"));
			await().until(() -> this.service.get("/v1/jobs/" + id)
				.json()
				.at("/callback/state")
				.asString("")
				.equals("delivered"));
			refuseForged();
			assertThat(Files.readString(output.toPath())).doesNotContain("forged");
		}
		finally {
			process.descendants().forEach(ProcessHandle::destroy);
			process.destroy();
			process.waitFor();
		}
		await().until(() -> {
			try {
				send(Map.of(), "{}");
				return false;
			}
			catch (IOException ex) {
				return true;
			}
		});
	}

	private String begin() {
		Answer answer = this.service.send(this.service.request("/pipeset/3?callback=" + url())
			.header("Prefer", "respond-async")
			.POST(BodyPublishers.noBody()));
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return answer.json().get("jobId").asString();
	}

	private static void refuseForged() throws Exception {
		long now = System.currentTimeMillis() / 1000;
		String body = "{\"state\":\"completed\",\"counts\":{}}";
		assertThat(send(signed("good", now, body, SECRET), body)).isEqualTo(204);
		assertThat(send(signed("forged", now, body, CallbackTests.SECRETS.split(",", -1)[1]), body)).isEqualTo(401);
		assertThat(send(signed("forged", now, body, SECRET), body + " ")).isEqualTo(401);
		assertThat(send(signed("forged", now - 600, body, SECRET), body)).isEqualTo(401);
		assertThat(send(signed("forged", now + 600, body, SECRET), body)).isEqualTo(401);
		Map<String, String> otherId = signed("good", now, body, SECRET);
		otherId.put("webhook-id", "forged");
		assertThat(send(otherId, body)).isEqualTo(401);
		Map<String, String> unsigned = signed("forged", now, body, SECRET);
		unsigned.put("webhook-signature", "v1, v1,x");
		assertThat(send(unsigned, body)).isEqualTo(401);
	}

	private static Map<String, String> signed(String id, long seconds, String body, String secret) {
		Map<String, String> headers = new LinkedHashMap<>(
				Map.of("webhook-id", id, "webhook-timestamp", Long.toString(seconds)));
		Map<String, List<String>> lists = new LinkedHashMap<>();
		headers.forEach((name, value) -> lists.put(name, List.of(value)));
		headers.put("webhook-signature", Receiver.signature(new Post("", "", "POST", lists, body), secret));
		return headers;
	}

	/** On a connection of its own, because a receiver may close it after an answer. */
	private static int send(Map<String, String> headers, String body) throws IOException {
		HttpURLConnection connection = (HttpURLConnection) URI.create(url()).toURL().openConnection();
		connection.setDoOutput(true);
		connection.setRequestProperty("Connection", "close");
		headers.forEach(connection::setRequestProperty);
		try (OutputStream out = connection.getOutputStream()) {
			out.write(body.getBytes(StandardCharsets.UTF_8));
		}
		return connection.getResponseCode();
	}

	private static boolean isThere(String check) throws InterruptedException {
		try {
			return new ProcessBuilder(check.split(" ", -1)).redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.start()
				.waitFor() == 0;
		}
		catch (IOException ex) {
			return false;
		}
	}

}
