package io.pipeset.web.source;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.web.document.Examples;
import io.pipeset.web.source.ResourceServer.Resource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The service fetches the records of a job from a URL. */
@ServiceTest(properties = { "pipeset.sources.timeout=1s", "pipeset.limits.max-body-bytes=1MB",
		"pipeset.spool.directory=target/spool/urls" })
class UrlSourceTests {

	private static final int ROWS = 1000;

	private static final String SIGNATURE = "?X-Amz-Signature=secretsignature&X-Amz-Expires=60";

	private static final ResourceServer server = ResourceServer.open();

	private static final ResourceServer foreign = ResourceServer.open();

	private static final RedisCommands<String, String> redis = TestRedis.shared().client();

	private static final byte[] CSV = ("id,name\n"
			+ IntStream.range(0, ROWS).mapToObj((i) -> i + ",name " + i + "\n").collect(Collectors.joining()))
		.getBytes(StandardCharsets.UTF_8);

	/** Each test has a folder of its own. */
	private final String folder = "/data/" + UUID.randomUUID() + "/";

	private final Service service;

	UrlSourceTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void allow(DynamicPropertyRegistry properties) {
		properties.add("pipeset.sources.urls", () -> server.url("/data/"));
	}

	@AfterAll
	static void close() {
		server.close();
		foreign.close();
	}

	@BeforeEach
	void emptyRedis() {
		redis.flushall();
	}

	@Test
	void aSignedUrlWhoseConnectionBreaksThreeTimesIsLoadedOnce() {
		Resource resource = put("products.csv", "text/csv", CSV).cutAt(10, 5000, 1);
		JsonNode report = load("products.csv", "&op=INCR&key=p:{id}").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(ROWS, ROWS, 0, 0, 0, 0));
		assertThat(redis.dbsize()).isEqualTo(ROWS);
		assertThat(redis.keys("*")).allMatch((key) -> "1".equals(redis.get(key)));
		assertThat(resource.requests()).hasSize(4);
		assertThat(resource.requests().get(2)).anyMatch((line) -> line.equalsIgnoreCase("Range: bytes=5010-"))
			.anyMatch((line) -> line.equalsIgnoreCase("If-Range: \"one\""));
		assertThat(report.at("/warnings/0/code").asString()).isEqualTo("SOURCE_BROKE_OFF");
		assertThat(report.at("/warnings/0/count").asInt()).isEqualTo(3);
		assertThat(report.at("/settings/url").asString()).isEqualTo(server.url(this.folder + "products.csv"));
		assertThat(report.toString()).doesNotContain("secretsignature");
	}

	@Test
	void theFirstRecordsAreATrial() {
		put("products.csv", "text/csv", CSV);
		assertThat(load("products.csv", "&op=INCR&key=p:{id}&limit=3&dryRun=true").report().at("/wouldRun").asInt())
			.isEqualTo(3);
		assertThat(Answer.counts(load("products.csv", "&op=INCR&key=p:{id}&limit=3").report()))
			.isEqualTo(new Counts(3, 3, 0, 0, 0, 0));
		assertThat(redis.dbsize()).isEqualTo(3);
	}

	@Test
	void everyByteMayBeTheLastOfAConnection() {
		Resource resource = put("small.csv", "text/csv", "id\n1\n2\n3\n".getBytes(StandardCharsets.UTF_8));
		resource.cutAt(1, 1, 1, 1, 1, 1, 1, 1, 1);
		JsonNode report = load("small.csv", "&op=INCR&key=p:{id}").report();
		assertThat(Answer.counts(report).applied()).isEqualTo(3);
		assertThat(redis.mget("p:1", "p:2", "p:3")).allMatch((value) -> value.getValue().equals("1"));
	}

	@ParameterizedTest
	@CsvSource({ "products.csv.gz, application/octet-stream, ''", "products.csv, text/csv, gzip",
			"products, text/csv; charset=utf-8, gzip", "products.csv.gz, application/x-gzip, ''",
			"products.csv.gz, text/csv, gzip" })
	void compressedResourcesAreInflated(String name, String type, String encoding) throws IOException {
		ByteArrayOutputStream compressed = new ByteArrayOutputStream();
		try (GZIPOutputStream out = new GZIPOutputStream(compressed)) {
			out.write(CSV);
		}
		Resource resource = put(name, type, compressed.toByteArray()).cutAt(100);
		if (!encoding.isEmpty()) {
			resource.encoding(encoding);
		}
		assertThat(Answer.counts(load(name, "&op=HSET&key=p:{id}").report()).applied()).isEqualTo(ROWS);
	}

	/** So does Google Cloud Storage, by decompressive transcoding. */
	@Test
	void aResourceThatItsServerHasDecompressedIsReadAsItIs() {
		put("products.csv.gz", "text/csv", CSV).cutAt(1);
		assertThat(Answer.counts(load("products.csv.gz", "&op=HSET&key=p:{id}").report()).applied()).isEqualTo(ROWS);
	}

	@ParameterizedTest
	@CsvSource({ "a.csv, binary/octet-stream, ''", "a.csv, text/plain, ''", "a, text/csv, ''", "a.bin, '', &format=csv",
			"a.json, application/json, &format=csv" })
	void theFormatIsThatOfTheRequestOrTheTypeOrTheName(String name, String type, String format) {
		put(name, type, CSV);
		assertThat(Answer.counts(load(name, "&op=HSET&key=p:{id}" + format).report()).applied()).isEqualTo(ROWS);
	}

	@Test
	void aFormatThatNothingSaysIsRefused() {
		put("a.bin", "application/octet-stream", CSV);
		Answer answer = load("a.bin", "&op=HSET&key=p:{id}");
		assertThat(answer.status()).isEqualTo(415);
		assertThat(answer.text()).contains("format=, one of ndjson, json, csv").doesNotContain("secretsignature");
	}

	@Test
	void aResourceWithoutALengthIsReadToItsEnd() {
		put("a.csv", "text/csv", CSV).withoutLength();
		assertThat(Answer.counts(load("a.csv", "&op=HSET&key=p:{id}").report()).applied()).isEqualTo(ROWS);
	}

	@Test
	void aResourceWithoutALengthMayBreakAfterItsLastByte() {
		put("a.csv", "text/csv", CSV).chunked().cutAt(CSV.length);
		assertThat(Answer.counts(load("a.csv", "&op=HSET&key=p:{id}").report()).applied()).isEqualTo(ROWS);
	}

	@Test
	void aResourceThatChangesEndsTheJob() throws Exception {
		Resource resource = put("a.csv", "text/csv", CSV).cutAt(5000).pauseAt(4000);
		var answer = this.service
			.sendAsync(this.service.request(path("a.csv", "&op=HSET&key=p:{id}")).POST(BodyPublishers.noBody()));
		resource.awaitPause();
		resource.change("other".getBytes(StandardCharsets.UTF_8), "\"two\"");
		resource.goOn();
		assertFails(answer.get(), "the resource has changed since its first byte was read, after 5000 bytes");
	}

	@Test
	void aServerWithoutRangesEndsTheJob() {
		put("a.csv", "text/csv", CSV).cutAt(5000).withoutRanges();
		Answer answer = load("a.csv", "&op=HSET&key=p:{id}");
		assertFails(answer, "the server cannot go on at a byte (it has no ranges)");
		Examples.check(502, "source-failed", answer);
	}

	@Test
	void aServerThatNamesNoVersionEndsTheJob() {
		put("a.csv", "text/csv", CSV).cutAt(5000).etag(null);
		assertFails(load("a.csv", "&op=HSET&key=p:{id}"), "the server names no version of the resource");
	}

	@Test
	void aServerThatGivesNothingEndsTheJob() {
		put("a.csv", "text/csv", CSV).cutAt(5000, 0).answer();
		Resource resource = put("b.csv", "text/csv", CSV).pauseAt(5000);
		assertFails(load("b.csv", "&op=HSET&key=p:{id}"), "pipeset.sources.timeout");
		resource.goOn();
	}

	/** The server may send less than was asked for. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aShorterPartIsNotTakenForTheEnd(boolean chunked) {
		Resource resource = put("a.csv", "text/csv", CSV).cutAt(5000).partsOf(1000);
		if (chunked) {
			resource.chunked();
		}
		assertThat(Answer.counts(load("a.csv", "&op=INCR&key=p:{id}").report()).applied()).isEqualTo(ROWS);
		assertThat(redis.dbsize()).isEqualTo(ROWS);
		assertThat(redis.keys("*")).allMatch((key) -> "1".equals(redis.get(key)));
		assertThat(resource.requests()).hasSize(1 + (CSV.length - 5000 + 999) / 1000);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aPartOfAnUnknownTotalIsNotTakenForTheEnd(boolean chunked) {
		Resource resource = put("a.csv", "text/csv", CSV).cutAt(5000).partsOf(1000).total("*");
		if (chunked) {
			resource.chunked();
		}
		assertFails(load("a.csv", "&op=HSET&key=p:{id}"), "the server does not say how long the resource is");
	}

	@Test
	void aWholeResourceOfAChunkThatEndsEarlyIsTakenUpAgain() {
		put("a.csv", "text/csv", CSV).chunked().cutAt(5000, 1, 700);
		assertThat(Answer.counts(load("a.csv", "&op=INCR&key=p:{id}").report()).applied()).isEqualTo(ROWS);
		assertThat(redis.keys("*")).hasSize(ROWS).allMatch((key) -> "1".equals(redis.get(key)));
	}

	/** The server sends the part all the same, with a version that has changed. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
			"one"   | W/"two"
			"one"   | W/"one"
			"one"   | "two"
			W/"one" | W/"two"
			""")
	void aLaterPartWithAnotherETagIsRefused(String first, String later) throws Exception {
		Resource resource = put("a.csv", "text/csv", CSV).etag(first)
			.lastModified("Sat, 28 Nov 2026 09:00:00 GMT")
			.partsOfAnyVersion();
		assertFails(loadAndChange(resource, () -> resource.etag(later)),
				"the resource has changed since its first byte was read, after 5000 bytes");
	}

	@ParameterizedTest
	@ValueSource(strings = { "gzip", "br" })
	void aLaterPartInAnotherEncodingIsRefused(String encoding) throws Exception {
		Resource resource = put("a.csv", "text/csv", CSV);
		assertFails(loadAndChange(resource, () -> resource.encoding(encoding)),
				"the resource has changed since its first byte was read, after 5000 bytes");
	}

	/** The first response breaks at a byte, when the resource has changed already. */
	private Answer loadAndChange(Resource resource, Runnable change) throws Exception {
		resource.cutAt(5000).pauseAt(4000);
		var answer = this.service
			.sendAsync(this.service.request(path("a.csv", "&op=HSET&key=p:{id}")).POST(BodyPublishers.noBody()));
		resource.awaitPause();
		change.run();
		resource.goOn();
		return answer.get();
	}

	/** The other limits are an hour, so that only this one ends the call. */
	@Test
	void aCallerWaitsForTheFirstAnswerForSecondsOnly() {
		Resource resource = put("a.csv", "text/csv", CSV).silent();
		try (Replica replica = Replica.start(TestRedis.shared(), TestRedis.shared().properties(),
				"pipeset.sources.urls=" + server.url("/data/"), "pipeset.sources.timeout=1h",
				"pipeset.limits.body-idle-timeout=1h")) {
			Answer answer = replica.service().post(path("a.csv", "&op=HSET&key=p:{id}"));
			assertThat(answer.refusal(502, "source-failed")).contains("Nothing was run");
			assertThat(answer.text()).doesNotContain("secretsignature");
			assertThat(resource.requests()).isNotEmpty();
		}
		finally {
			resource.goOn();
		}
		assertThat(redis.dbsize()).isZero();
	}

	private static void assertFails(Answer answer, String reason) {
		JsonNode job = answer.job(502, "source-failed", "failed");
		assertThat(answer.json().get("detail").asString()).contains(reason).doesNotContain("secretsignature");
		long read = job.at("/nextIndex").asLong();
		assertThat(read).isBetween(100L, (long) ROWS - 1);
		assertThat(Answer.counts(job).applied()).isEqualTo(read);
		assertThat(redis.dbsize()).isEqualTo(read);
	}

	@Test
	void aServerThatIsBusyIsAskedAgain() {
		put("a.csv", "text/csv", CSV).answer(503, 429);
		assertThat(load("a.csv", "&op=HSET&key=p:{id}").report().at("/counts/applied").asInt()).isEqualTo(ROWS);
	}

	@ParameterizedTest
	@CsvSource({ "404, the server answered 404", "403, the signature of a URL may have expired" })
	void aUrlWithoutAResourceRunsNothing(int status, String reason) {
		put("a.csv", "text/csv", CSV).answer(status);
		Answer answer = load("a.csv", "&op=HSET&key=p:{id}");
		assertThat(answer.status()).isEqualTo(502);
		assertThat(answer.json().get("type").asString()).endsWith(":source-failed");
		assertThat(answer.text()).contains(reason, "Nothing was run").doesNotContain("secretsignature", "jobId");
	}

	@Test
	void aRedirectIsHeldToTheAllowedUrls() {
		put("a.csv", "text/csv", CSV);
		put("inside", "text/csv", CSV).redirectTo("a.csv?token=secretsignature");
		assertThat(load("inside", "&op=HSET&key=p:{id}").report().at("/counts/applied").asInt()).isEqualTo(ROWS);
		foreign.put("/data/a.csv", "text/csv", CSV);
		for (String location : List.of(foreign.url("/data/a.csv"), "http://169.254.169.254/latest/meta-data",
				server.url("/other/a.csv"), server.url("/data/../other"), "file:///etc/passwd")) {
			put("outside", "text/csv", CSV).redirectTo(location);
			Answer answer = load("outside", "&op=HSET&key=p:{id}");
			assertThat(answer.status()).as(location).isEqualTo(502);
			assertThat(answer.text()).contains("it is redirected to a URL that is not");
		}
		put("loop", "text/csv", CSV).redirectTo("loop");
		assertThat(load("loop", "&op=HSET&key=p:{id}").text()).contains("it is redirected more than 5 times");
	}

	@Test
	void aUrlThatIsNotAllowedIsNotFetched() {
		Resource resource = foreign.put("/data/b.csv", "text/csv", CSV);
		Answer answer = post("/v1/jobs?from=url&url=" + encode(foreign.url("/data/b.csv" + SIGNATURE)));
		assertThat(answer.status()).isEqualTo(403);
		assertThat(answer.text()).contains("pipeset.sources.urls").doesNotContain("secretsignature");
		assertThat(resource.requests()).isEmpty();
	}

	@Test
	void aClientHasTheUrlsOfItsOwn() {
		put("a.csv", "text/csv", CSV);
		server.put("/data/elsewhere.csv", "text/csv", CSV);
		try (Replica replica = Replica.start(TestRedis.shared(), TestRedis.shared().properties(),
				"pipeset.sources.urls=" + server.url("/data/"),
				"pipeset.clients.orders.key-sha256=9d00f085fa34266c949e527a29d62334c2aa67b652266e3e42de6cbcdeab2144",
				"pipeset.clients.orders.sources=" + server.url(this.folder) + ",products",
				"pipeset.clients.billing.key-sha256=f7c28d1179e4b9f9b5df3f63b32285089c8f28b69f930e0a4e0e4b43e23d6ca6")) {
			Service orders = replica.service().as("key-of-orders");
			assertThat(Answer.counts(orders.post(path("a.csv", "&op=HSET&key=p:{id}")).report()).applied())
				.isEqualTo(ROWS);
			String elsewhere = "/v1/jobs?from=url&url=" + encode(server.url("/data/elsewhere.csv"));
			assertThat(orders.post(elsewhere).refusal(403, "forbidden"))
				.contains("pipeset.clients.orders.sources allows " + server.url(this.folder) + ", products");
			assertThat(orders.get("/v1/sources").json().toString())
				.isEqualTo("{\"urls\":[\"" + server.url(this.folder) + "\"],\"queries\":[]}");
			assertThat(replica.service().as("key-of-billing").post(path("a.csv", "")).refusal(403, "forbidden"))
				.contains("pipeset.clients.billing.sources allows none");
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
			/v1/jobs?from=url                                | 'url' is missing
			/v1/jobs?url=http://127.0.0.1/                   | 'url' has a meaning only with from=url
			/v1/jobs?from=url&url=ftp://host/a               | 'url' must be an absolute http or https URL
			/v1/jobs?from=url&url=http://u:secret@host/a     | 'url' must be an absolute http or https URL
			/v1/jobs?from=url&url=http://h/a&X-Amz-Date=now  | percent-encode the whole URL
			/v1/jobs?from=url&url=http://h/a&format=xml      | 'format' must be
			/v1/jobs?from=ftp                                | scan, url or query
			""")
	void aWrongParameterIsRefused(String query, String reason) {
		Answer answer = post(query);
		assertThat(answer.status()).isEqualTo(400);
		assertThat(answer.json().get("detail").asString()).contains(reason).doesNotContain("secret@");
	}

	@Test
	void aBodyBesideAUrlIsRefused() {
		Answer answer = this.service.ndjson(path("a.csv", ""), "[\"SET\",\"k\",\"v\"]");
		assertThat(answer.status()).isEqualTo(400);
		assertThat(answer.json().get("type").asString()).endsWith(":unexpected-body");
	}

	@Test
	void theLimitOfBodiesHolds() {
		put("a.csv", "text/csv", new byte[(1 << 20) + 1]);
		assertThat(load("a.csv", "&op=HSET&key=p:{id}").status()).isEqualTo(413);
		byte[] large = ("id\n" + "1\n".repeat(1 << 19)).getBytes(StandardCharsets.UTF_8);
		put("b.csv", "text/csv", large).withoutLength();
		Answer answer = load("b.csv", "&op=SET&key=p:{id}&value=v");
		answer.job(413, "limit", "failed");
	}

	@Test
	void anAsynchronousJobShowsItsProgressAndEnds() throws Exception {
		Resource resource = put("a.csv", "text/csv", CSV).pauseAt(CSV.length / 2);
		String location = begin("a.csv", "&op=HSET&key=p:{id}");
		resource.awaitPause();
		await().until(() -> this.service.get(location).json().at("/progress/share").asDouble() > 0.4);
		assertThat(this.service.get(location).text()).doesNotContain("secretsignature");
		resource.goOn();
		await().until(() -> this.service.get(location).json().at("/state").asString().equals("completed"));
		assertThat(Answer.counts(this.service.get(location).json()).applied()).isEqualTo(ROWS);
		assertThat(this.service.get(location + "/items").text()).isEmpty();
	}

	@Test
	void itemsOfAnAsynchronousJobAreReadFromTheUrlAgain() {
		put("a.csv", "text/csv", "id,n\n1,5\n2,x\n".getBytes(StandardCharsets.UTF_8));
		String location = begin("a.csv", "&op=INCRBY&key=p:{id}&args={n}");
		await().until(() -> this.service.get(location).json().at("/state").asString().equals("completed"));
		assertThat(this.service.get(location + "/items").text()).contains("\"raw\":\"2,x\"").contains("\"index\":1");
	}

	@Test
	void aCancelledJobEndsWhileItsServerGivesNothing() throws Exception {
		Resource resource = put("a.csv", "text/csv", CSV).pauseAt(5000);
		String location = begin("a.csv", "&op=HSET&key=p:{id}");
		resource.awaitPause();
		await().until(() -> this.service.get(location).json().at("/counts/received").asInt() > 0);
		this.service.delete(location);
		await().until(() -> this.service.get(location).json().at("/state").asString().equals("cancelled"));
		resource.goOn();
	}

	/** The URL may have expired: the job ran, and must not seem to have run nothing. */
	@Test
	void aRepeatIsAnsweredWithoutItsUrl() {
		Resource resource = put("a.csv", "text/csv", CSV);
		String key = UUID.randomUUID().toString();
		for (int i = 0; i < 2; i++) {
			Answer answer = this.service.send(this.service.request(path("a.csv", "&op=INCR&key=p:{id}"))
				.header("Idempotency-Key", key)
				.POST(BodyPublishers.noBody()));
			assertThat(Answer.counts(answer.report()).applied()).isEqualTo(ROWS);
			resource.answer(403);
		}
		assertThat(redis.get("p:1")).isEqualTo("1");
		assertThat(resource.requests()).hasSize(1);
	}

	@Test
	void aKeyIsFreeAgainIfTheUrlCannotBeRead() {
		put("a.csv", "text/csv", CSV).answer(404);
		String key = UUID.randomUUID().toString();
		for (int status : new int[] { 502, 200 }) {
			assertThat(this.service
				.send(this.service.request(path("a.csv", "&op=INCR&key=p:{id}"))
					.header("Idempotency-Key", key)
					.POST(BodyPublishers.noBody()))
				.status()).isEqualTo(status);
		}
	}

	@Test
	void aResourceWithoutAnEndReplacesNothing() {
		put("a.csv", "text/csv", CSV).withoutLength().cutAt(5000);
		redis.set("p:999", "old");
		assertThat(load("a.csv", "&op=HSET&key=p:{id}&replace=p:*").refusal(502, "source-failed"))
			.contains("names no length");
		assertThat(redis.keys("*")).containsExactly("p:999");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/3?from=url", "/v1/jobs?from=scan&match=*&op=UNLINK&url=http://h/" })
	void otherCallsHaveNoUrl(String query) {
		assertThat(post(query).status()).isEqualTo(400);
	}

	private Resource put(String name, String type, byte[] body) {
		return server.put(this.folder + name, type, body);
	}

	private Answer load(String name, String settings) {
		return post(path(name, settings));
	}

	private String begin(String name, String settings) {
		Answer answer = this.service.send(this.service.request(path(name, settings))
			.header("Prefer", "respond-async")
			.POST(BodyPublishers.noBody()));
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return answer.headers().firstValue("Location").orElseThrow();
	}

	private Answer post(String query) {
		return this.service.post(query.replace("{", "%7B").replace("}", "%7D").replace(" ", "%20"));
	}

	private String path(String name, String settings) {
		return "/v1/jobs?from=url&url=" + encode(server.url(this.folder + name + SIGNATURE))
				+ settings.replace("{", "%7B").replace("}", "%7D");
	}

	private static String encode(String text) {
		return URLEncoder.encode(text, StandardCharsets.UTF_8);
	}

}
