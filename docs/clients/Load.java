import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Loads records into Redis through Pipeset: streamed, and once only, whatever happens to the connection.
 *
 * <pre>
 * PIPESET_URL=http://localhost:8080 PIPESET_KEY=... java Load.java 1000000 user:
 * </pre>
 *
 * Needs Java 17 or later, and nothing else. It ends with 0 if all records ran, and else with 1: failed.ndjson then has the
 * others, which can be posted again as they are.
 */
class Load {

	private static final HttpClient client = HttpClient.newBuilder()
		.version(HttpClient.Version.HTTP_1_1)
		.connectTimeout(Duration.ofSeconds(10))
		.build();

	private static final String url = System.getenv().getOrDefault("PIPESET_URL", "http://localhost:8080");

	private static final String key = System.getenv("PIPESET_KEY");

	public static void main(String[] args) throws Exception {
		int count = (args.length > 0) ? Integer.parseInt(args[0]) : 1_000_000;
		String prefix = (args.length > 1) ? args[1] : "user:";
		String job = upload(count, prefix);
		String report = follow(job);
		System.out.println(member("state", report) + " " + member("counts", report));
		if (member("errors", report).equals("true")) {
			client.send(request(job + "/items").build(), BodyHandlers.ofFile(Path.of("failed.ndjson")));
			System.err.println(url + job + ": what did not run is in failed.ndjson");
			System.exit(1);
		}
	}

	/** The records, a thousand lines at a time: each piece is made when the connection takes it. */
	private static BodyPublisher records(int count, String prefix) {
		return BodyPublishers.ofByteArrays(() -> IntStream.iterate(0, (i) -> i < count, (i) -> i + 1000)
			.mapToObj((from) -> IntStream.range(from, Math.min(from + 1000, count))
				.mapToObj((i) -> "{\"op\":\"HSET\",\"key\":\"" + prefix + i + "\",\"fields\":{\"name\":\"User " + i
						+ "\"}}\n")
				.collect(Collectors.joining())
				.getBytes(StandardCharsets.UTF_8))
			.iterator());
	}

	/**
	 * With the same key the records run once, however often they are sent. 202: all of them were accepted. interrupted: those of
	 * an earlier attempt were, and the process that had them has died.
	 */
	private static String upload(int count, String prefix) throws InterruptedException {
		HttpResponse<String> answer = call(request("/v1/jobs").header("Content-Type", "application/x-ndjson")
			.header("Prefer", "respond-async")
			.header("Idempotency-Key", UUID.randomUUID().toString())
			.POST(records(count, prefix)));
		boolean accepted = answer.statusCode() == 202 || isReplayed(answer)
				|| member("type", answer.body()).endsWith(":interrupted");
		String job = answer.headers().firstValue("Location").orElse("");
		require(answer, accepted && !job.isEmpty());
		return job;
	}

	/** Waits for the end of the job, and has it go on if its process has died. */
	private static String follow(String job) throws InterruptedException {
		while (true) {
			HttpResponse<String> answer = call(request(job));
			String state = member("state", require(answer, answer.statusCode() == 200).body());
			if (state.equals("interrupted")) {
				HttpResponse<String> resumed = call(request(job + "/resume").POST(BodyPublishers.noBody()));
				require(resumed, resumed.statusCode() == 202);
			}
			else if (!state.equals("queued") && !state.equals("running")) {
				return answer.body();
			}
			Thread.sleep(retryAfter(answer));
		}
	}

	/** Sends a request again for as long as another attempt may have a better answer. */
	private static HttpResponse<String> call(HttpRequest.Builder request) throws InterruptedException {
		long pause = 200;
		for (int attempt = 0; attempt < 20; attempt++) {
			long wait = pause;
			String trouble;
			try {
				HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
				int status = answer.statusCode();
				boolean inUse = status == 409 && answer.body().contains(":idempotency-key-in-use\"");
				if (isReplayed(answer) || !(status == 429 || status == 503 || inUse)) {
					return answer;
				}
				wait = Math.max(wait, retryAfter(answer));
				trouble = member("detail", answer.body());
			}
			catch (IOException lost) {
				trouble = lost.toString();
			}
			System.err.println("Once more in " + wait + " ms: " + trouble);
			Thread.sleep(wait);
			pause = Math.min(2 * pause, 30_000);
		}
		throw new IllegalStateException("Gave up");
	}

	private static HttpRequest.Builder request(String path) {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path)).timeout(Duration.ofMinutes(10));
		return (key != null) ? request.header("Authorization", "Bearer " + key) : request;
	}

	private static HttpResponse<String> require(HttpResponse<String> answer, boolean good) {
		if (!good) {
			throw new IllegalStateException(answer.statusCode() + " " + member("detail", answer.body()));
		}
		return answer;
	}

	private static boolean isReplayed(HttpResponse<?> answer) {
		return answer.headers().firstValue("Idempotency-Replayed").isPresent();
	}

	private static long retryAfter(HttpResponse<?> answer) {
		return 1000 * answer.headers().firstValueAsLong("Retry-After").orElse(0);
	}

	/** The JDK reads no JSON. These members stand ahead of all that a record could have in it; a library is better. */
	private static String member(String name, String json) {
		Matcher member = Pattern.compile("\"" + name + "\":(\"(?:[^\"\\\\]|\\\\.)*\"|\\{[^}]*}|[^,}]*)").matcher(json);
		String value = (member.find()) ? member.group(1) : "";
		return (value.startsWith("\"")) ? value.substring(1, value.length() - 1) : value;
	}

}
