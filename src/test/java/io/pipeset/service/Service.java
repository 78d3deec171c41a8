package io.pipeset.service;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

import static org.awaitility.Awaitility.await;

/** A client of the running service, which knows nothing of it but HTTP. */
public final class Service implements AutoCloseable {

	public static final String NDJSON = "application/x-ndjson";

	public static final String JSON = "application/json";

	private static final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	private final int port;

	private final @Nullable String key;

	private final List<Wire> uploads = new ArrayList<>();

	public Service(int port) {
		this(port, null);
	}

	private Service(int port, @Nullable String key) {
		this.port = port;
		this.key = key;
	}

	/** The same service, called with a client's key, or without any. */
	public Service as(@Nullable String key) {
		return new Service(this.port, key);
	}

	public int port() {
		return this.port;
	}

	public URI uri(String pathAndQuery) {
		return URI.create("http://127.0.0.1:" + this.port + pathAndQuery);
	}

	public HttpRequest.Builder request(String pathAndQuery) {
		HttpRequest.Builder request = HttpRequest.newBuilder(uri(pathAndQuery)).timeout(Duration.ofMinutes(2));
		return (this.key != null) ? request.header("Authorization", "Bearer " + this.key) : request;
	}

	public Answer send(HttpRequest.Builder request) {
		try {
			return answer(client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray()));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	public CompletableFuture<Answer> sendAsync(HttpRequest.Builder request) {
		return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofByteArray()).thenApply(Service::answer);
	}

	/** Sends a request, and counts down when the head of its answer is there. */
	public CompletableFuture<Answer> sendAsync(HttpRequest.Builder request, CountDownLatch heads) {
		return client.sendAsync(request.build(), (head) -> {
			heads.countDown();
			return HttpResponse.BodySubscribers.ofByteArray();
		}).thenApply(Service::answer);
	}

	public Answer get(String pathAndQuery) {
		return send(request(pathAndQuery).GET());
	}

	/** Posts without a body and without a Content-Type. */
	public Answer post(String pathAndQuery) {
		return send(request(pathAndQuery).POST(BodyPublishers.noBody()));
	}

	/** Posts a body that declares its length. */
	public Answer post(String pathAndQuery, String type, String body) {
		return send(request(pathAndQuery).header("Content-Type", type)
			.POST(BodyPublishers.ofString(body, StandardCharsets.UTF_8)));
	}

	/** Posts a line for each record. */
	public Answer ndjson(String pathAndQuery, String... lines) {
		return post(pathAndQuery, NDJSON, String.join("\n", lines) + "\n");
	}

	/** Posts a chunked body that is made while it is sent. */
	public Answer upload(String pathAndQuery, String type, InputStream body) {
		return send(uploading(pathAndQuery, type, body));
	}

	public HttpRequest.Builder uploading(String pathAndQuery, String type, InputStream body) {
		return request(pathAndQuery).header("Content-Type", type).POST(BodyPublishers.ofInputStream(() -> body));
	}

	/**
	 * Leaves a connection in the pool, with its handshake done and transactions known to
	 * be permitted, so that the next job sends its own commands and nothing else.
	 */
	public void connect() {
		await().ignoreExceptions().until(() -> post("/pipeset/1?atomic=batch").status() == 200);
	}

	/**
	 * Begins an upload, of which a SET is there already. Its job runs on until it gets
	 * its end, or the test has ended.
	 */
	public Wire begin(String key) throws IOException {
		return keep(Wire.upload(this, "/v1/jobs?op=SET")).chunk("{\"key\":\"" + key + "\",\"value\":\"1\"}\n");
	}

	/** Closes a connection when the test has ended. */
	public Wire keep(Wire upload) {
		this.uploads.add(upload);
		return upload;
	}

	@Override
	public void close() throws IOException {
		for (Wire upload : this.uploads) {
			upload.close();
		}
	}

	public Answer delete(String pathAndQuery) {
		return send(request(pathAndQuery).DELETE());
	}

	public Answer patch(String pathAndQuery) {
		return send(request(pathAndQuery).method("PATCH", BodyPublishers.noBody()));
	}

	/** Waits until the service has one job in a state, and answers with its id. */
	public String awaitJob(String state) {
		JsonNode[] jobs = new JsonNode[1];
		await().until(() -> {
			jobs[0] = get("/v1/jobs?state=" + state).json().get("jobs");
			return jobs[0].size() == 1;
		});
		return jobs[0].get(0).get("jobId").asString();
	}

	/** Waits until jobs have sent as much as they may to a Redis that does not answer. */
	public void awaitStandstill() {
		long[] last = { -1 };
		await().pollInterval(Duration.ofMillis(300)).until(() -> {
			long before = last[0];
			last[0] = get("/actuator/pipeset").json().at("/inFlightBytes").asLong();
			return last[0] > 0 && last[0] == before;
		});
	}

	/** The values that the shortcuts generate. */
	public static List<String> generated(int from, int to) {
		return IntStream.range(from, to).mapToObj("value-%05d"::formatted).toList();
	}

	private static Answer answer(HttpResponse<byte[]> response) {
		return new Answer(response.statusCode(), response.headers(),
				new String(response.body(), StandardCharsets.UTF_8));
	}

}
