import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.StreamingHttpOutputMessage;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;

/**
 * Loads records into Redis through Pipeset, by Spring's RestClient: streamed, and once only, whatever happens to the connection.
 *
 * <pre>
 * PIPESET_URL=http://localhost:8080 PIPESET_KEY=... java -cp ... SpringLoad.java 1000000 user:
 * </pre>
 *
 * Needs spring-web, and Jackson for its JSON. It ends with 0 if all records ran, and else with 1: failed.ndjson then has the
 * others, which can be posted again as they are.
 */
class SpringLoad {

	private static final String url = System.getenv().getOrDefault("PIPESET_URL", "http://localhost:8080");

	private final RestClient client;

	private SpringLoad(String key) {
		// The factory decides whether a body is streamed. HTTP/1.1 is what the service speaks.
		JdkClientHttpRequestFactory requests = new JdkClientHttpRequestFactory(HttpClient.newBuilder()
			.version(HttpClient.Version.HTTP_1_1)
			.connectTimeout(Duration.ofSeconds(10))
			.build());
		requests.setReadTimeout(Duration.ofMinutes(10));
		RestClient.Builder builder = RestClient.builder().baseUrl(url).requestFactory(requests);
		this.client = ((key != null) ? builder.defaultHeader(HttpHeaders.AUTHORIZATION, "Bearer " + key) : builder)
			.build();
	}

	public static void main(String[] args) throws Exception {
		int count = (args.length > 0) ? Integer.parseInt(args[0]) : 1_000_000;
		String prefix = (args.length > 1) ? args[1] : "user:";
		SpringLoad load = new SpringLoad(System.getenv("PIPESET_KEY"));
		String job = load.upload((out) -> write(count, prefix, out));
		Map<?, ?> report = load.follow(job);
		System.out.println(report.get("state") + " " + report.get("counts"));
		if (Boolean.TRUE.equals(report.get("errors"))) {
			load.client.get().uri(job + "/items").exchange((request, items) -> Files.copy(items.getBody(),
					Path.of("failed.ndjson"), StandardCopyOption.REPLACE_EXISTING));
			System.err.println(url + job + ": what did not run is in failed.ndjson");
			System.exit(1);
		}
	}

	/** Writes one record after the other into the connection. */
	private static void write(int count, String prefix, OutputStream out) throws IOException {
		for (int i = 0; i < count; i++) {
			out.write(("{\"op\":\"HSET\",\"key\":\"" + prefix + i + "\",\"fields\":{\"name\":\"User " + i + "\"}}\n")
				.getBytes(StandardCharsets.UTF_8));
		}
	}

	/**
	 * With the same key the records run once, however often they are sent. 202: all of them were accepted. interrupted: those of
	 * an earlier attempt were, and the process that had them has died.
	 */
	private String upload(StreamingHttpOutputMessage.Body records) throws InterruptedException {
		String key = UUID.randomUUID().toString();
		Answer answer = call(() -> this.client.post()
			.uri("/v1/jobs")
			.header("Content-Type", "application/x-ndjson")
			.header("Prefer", "respond-async")
			.header("Idempotency-Key", key)
			.body(records));
		String job = answer.headers.getFirst(HttpHeaders.LOCATION);
		answer.require(job != null && (answer.status == 202 || answer.isReplayed() || answer.isOf(":interrupted")));
		return job;
	}

	/** Waits for the end of the job, and has it go on if its process has died. */
	private Map<?, ?> follow(String job) throws InterruptedException {
		while (true) {
			Answer answer = call(() -> this.client.get().uri(job));
			answer.require(answer.status == 200);
			switch (String.valueOf(answer.body.get("state"))) {
				case "queued", "running" -> Thread.sleep(answer.retryAfter());
				case "interrupted" -> {
					Answer resumed = call(() -> this.client.method(HttpMethod.POST).uri(job + "/resume"));
					resumed.require(resumed.status == 202);
				}
				default -> {
					return answer.body;
				}
			}
		}
	}

	/** Sends a request again for as long as another attempt may have a better answer. */
	private static Answer call(Request request) throws InterruptedException {
		long pause = 200;
		for (int attempt = 0; attempt < 20; attempt++) {
			long wait = pause;
			Object trouble;
			try {
				Answer answer = request.make()
					.exchange((sent, response) -> new Answer(response.getStatusCode().value(), response.getHeaders(),
							Objects.requireNonNull(response.bodyTo(Map.class))));
				if (!answer.isTemporary()) {
					return answer;
				}
				wait = Math.max(wait, answer.retryAfter());
				trouble = answer.body.get("detail");
			}
			catch (ResourceAccessException lost) {
				trouble = lost.getMessage();
			}
			System.err.println("Once more in " + wait + " ms: " + trouble);
			Thread.sleep(wait);
			pause = Math.min(2 * pause, 30_000);
		}
		throw new IllegalStateException("Gave up");
	}

	private interface Request {

		RestClient.RequestHeadersSpec<?> make();

	}

	private record Answer(int status, HttpHeaders headers, Map<?, ?> body) {

		boolean isReplayed() {
			return this.headers.containsHeader("Idempotency-Replayed");
		}

		boolean isOf(String problem) {
			return String.valueOf(this.body.get("type")).endsWith(problem);
		}

		boolean isTemporary() {
			boolean inUse = this.status == 409 && isOf(":idempotency-key-in-use");
			return !isReplayed() && (this.status == 429 || this.status == 503 || inUse);
		}

		long retryAfter() {
			String seconds = this.headers.getFirst(HttpHeaders.RETRY_AFTER);
			return (seconds != null) ? 1000 * Long.parseLong(seconds) : 0;
		}

		Answer require(boolean good) {
			if (!good) {
				throw new IllegalStateException(this.status + " " + this.body.get("detail"));
			}
			return this;
		}

	}

}
