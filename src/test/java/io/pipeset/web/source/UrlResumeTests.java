package io.pipeset.web.source;

import java.net.URLEncoder;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.web.source.ResourceServer.Resource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A job whose records come from a URL is resumed without a copy of its body. */
@ProcessTest
class UrlResumeTests {

	private static final int RECORDS = 3000;

	private static TestRedis redis;

	private final ResourceServer server = ResourceServer.open();

	private final byte[] body = IntStream.range(0, RECORDS)
		.mapToObj((i) -> "[\"SET\",\"k" + i + "\",\"v\"]\n")
		.collect(Collectors.joining())
		.getBytes(StandardCharsets.UTF_8);

	@TempDir
	Path spool;

	@BeforeAll
	static void startRedis() {
		redis = TestRedis.start();
	}

	@AfterAll
	static void endRedis() {
		redis.close();
	}

	@BeforeEach
	void emptyRedis() {
		redis.client().flushall();
	}

	@AfterEach
	void endServer() {
		this.server.close();
	}

	@Test
	void aNeighbourReadsTheSameVersionAgain() throws Exception {
		Resource resource = this.server.put("/a.ndjson", "application/x-ndjson", this.body)
			.pauseAt(this.body.length / 2);
		try (ServiceProcess process = start("auto", this.server.url("/"));
				ServiceProcess neighbour = start("auto", this.server.url("/"))) {
			String location = load(process.service(), resource);
			process.kill();
			resource.goOn();
			await().until(() -> state(neighbour.service(), location).equals("completed"));
			Answer answer = neighbour.service().get(location);
			assertThat(Answer.counts(answer.json())).isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
			assertThat(answer.json().at("/settings/url").asString()).isEqualTo(this.server.url("/a.ndjson"));
			assertThat(answer.text()).doesNotContain("secretsignature");
			assertThat(redis.client().keys("k*")).hasSize(RECORDS);
			assertThat(files()).noneMatch((name) -> name.endsWith(".body"));
		}
	}

	@Test
	void aVersionThatIsGoneIsNotMixedWithAnother() throws Exception {
		Resource resource = this.server.put("/a.ndjson", "application/x-ndjson", this.body)
			.pauseAt(this.body.length / 2);
		String location;
		try (ServiceProcess process = start("manual", this.server.url("/"))) {
			location = load(process.service(), resource);
			assertThat(process.output()).noneMatch((line) -> line.contains("secretsignature"));
			assertThat(redis.client().keys("pipeset:*")).allSatisfy((key) -> {
				if (redis.client().type(key).equals("hash")) {
					assertThat(redis.client().hgetall(key).toString()).doesNotContain("secretsignature");
				}
			});
			process.kill();
		}
		resource.change("[\"SET\",\"other\",\"v\"]\n".getBytes(StandardCharsets.UTF_8), "\"two\"");
		resource.goOn();
		try (ServiceProcess next = start("manual", this.server.url("/"))) {
			assertThat(state(next.service(), location)).isEqualTo("interrupted");
			assertThat(next.service().post(location + "/resume").refusal(502, "source-failed"))
				.contains("the resource has changed since its first byte was read")
				.doesNotContain("secretsignature");
			assertThat(redis.client().exists("other")).isZero();
		}
		try (ServiceProcess stricter = start("manual", "https://other.example/")) {
			assertThat(stricter.service().post(location + "/resume").refusal(403, "forbidden"))
				.contains("pipeset.sources.urls");
			int requests = resource.requests().size();
			assertThat(stricter.service().get(location + "/items").refusal(403, "forbidden"))
				.contains("pipeset.sources.urls");
			assertThat(resource.requests()).hasSize(requests);
		}
	}

	@Test
	void aRedirectOfAResumedJobIsHeldToTheUrlsOfItsClient() throws Exception {
		Resource resource = this.server.put("/a.ndjson", "application/x-ndjson", this.body)
			.pauseAt(this.body.length / 2);
		Resource secret = this.server.put("/secret/a.ndjson", "application/x-ndjson", this.body);
		String[] client = { "--pipeset.clients.orders.key-sha256=" + sha256("key-of-orders"),
				"--pipeset.clients.orders.sources=" + this.server.url("/a.ndjson") };
		String location;
		try (ServiceProcess process = start("manual", this.server.url("/"), client)) {
			location = load(process.service().as("key-of-orders"), resource);
			process.kill();
		}
		resource.redirectTo("/secret/a.ndjson");
		resource.goOn();
		try (ServiceProcess next = start("manual", this.server.url("/"), client)) {
			assertThat(next.service().as("key-of-orders").post(location + "/resume").refusal(502, "source-failed"))
				.contains("it is redirected to a URL that is not allowed");
		}
		assertThat(secret.requests()).isEmpty();
	}

	@Test
	void aResourceIsNotFetchedForAClientWithoutAPermit() throws Exception {
		Resource resource = this.server.put("/a.ndjson", "application/x-ndjson", this.body)
			.pauseAt(this.body.length / 2);
		Resource other = this.server.put("/b.ndjson", "application/x-ndjson", this.body);
		try (ServiceProcess process = start("manual", this.server.url("/"),
				"--pipeset.clients.orders.key-sha256=" + sha256("key-of-orders"),
				"--pipeset.clients.orders.sources=" + this.server.url("/"),
				"--pipeset.clients.orders.limits.max-jobs=1")) {
			Service service = process.service().as("key-of-orders");
			load(service, resource);
			service.post("/v1/jobs?from=url&url=" + this.server.url("/b.ndjson")).refusal(429, "limit");
			assertThat(other.requests()).isEmpty();
			resource.goOn();
		}
	}

	private static String sha256(String text) throws Exception {
		return HexFormat.of()
			.formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
	}

	private ServiceProcess start(String resume, String urls, String... more) throws Exception {
		return ServiceProcess
			.start(redis,
					Stream.concat(Stream.of("--pipeset.spool.directory=" + this.spool,
							"--pipeset.jobs.resume=" + resume, "--pipeset.sources.urls=" + urls), Stream.of(more))
						.toArray(String[]::new));
	}

	/** Begins a job, and waits until the records of the first half ran. */
	private String load(Service service, Resource resource) throws Exception {
		String url = URLEncoder.encode(this.server.url("/a.ndjson?sig=secretsignature"), StandardCharsets.UTF_8);
		Answer answer = service.send(service.request("/v1/jobs?from=url&url=" + url + "&batchSize=100")
			.header("Prefer", "respond-async")
			.POST(BodyPublishers.noBody()));
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		resource.awaitPause();
		String location = answer.headers().firstValue("Location").orElseThrow();
		await().until(() -> service.get(location).json().at("/counts/applied").asInt() > 100);
		return location;
	}

	private static String state(Service service, String location) {
		return service.get(location).json().at("/state").asString();
	}

	private Stream<String> files() throws Exception {
		try (Stream<Path> files = Files.walk(this.spool)) {
			return files.map(Path::toString).toList().stream();
		}
	}

}
