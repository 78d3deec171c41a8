package io.pipeset.web.source;

import java.net.URLEncoder;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.web.source.ResourceServer.Resource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Redis is lost while the service reads records from a URL or a database: every record is
 * accounted for, and the source gets its connection back though it has more to give.
 */
@ServiceTest(properties = { "pipeset.sources.timeout=10m", "pipeset.limits.body-idle-timeout=10m",
		"pipeset.sources.queries.numbers.sql=SELECT n AS id, (CASE WHEN n = :last THEN pg_sleep(3600) END)::text AS name"
				+ " FROM generate_series(1, " + SourceRedisFaultTests.RECORDS + ") AS n",
		"pipeset.sources.queries.numbers.max-connections=1" })
class SourceRedisFaultTests {

	static final int RECORDS = 20_000;

	/** After so many records the source waits, if it is to have more to give. */
	private static final int HELD = 15_000;

	private static final byte[] BODY = lines(RECORDS);

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private static final ResourceServer server = ResourceServer.open();

	private static final TestPostgres postgres = TestPostgres.start();

	private final Service service;

	SourceRedisFaultTests(Service service) {
		this.service = service;
	}

	private static byte[] lines(int records) {
		return IntStream.rangeClosed(1, records)
			.mapToObj((i) -> "{\"id\":" + i + "}\n")
			.collect(Collectors.joining())
			.getBytes(StandardCharsets.UTF_8);
	}

	@DynamicPropertySource
	static void sources(DynamicPropertyRegistry properties) {
		properties.add("pipeset.sources.urls", () -> server.url("/"));
		postgres.addTo(properties, "numbers");
	}

	@AfterAll
	static void close() {
		server.close();
		postgres.close();
	}

	@BeforeEach
	void emptyRedis() {
		this.service.connect();
		redis.client().flushall();
	}

	@ParameterizedTest
	@CsvSource({ "url, COMMANDS, 1", "url, COMMANDS, 5000", "url, COMMANDS, 19999", "url, REPLIES, 5000",
			"query, COMMANDS, 5000", "query, REPLIES, 5000" })
	void aLossIsMadeGoodByARetry(String from, Way way, int messages) throws Exception {
		server.put("/a.ndjson", "application/x-ndjson", BODY);
		CompletableFuture<ProxyLink> place = proxy.stopAt(way, messages, 9);
		CompletableFuture<Answer> answer = load(from, 0, "&retries=2");
		place.get(60, TimeUnit.SECONDS).reset();
		JsonNode report = answer.get(60, TimeUnit.SECONDS).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
		assertThat(report.at("/settings/from").asString()).isEqualTo(from);
		assertThat(redis.client().keys("k:*")).hasSize(RECORDS);
		assertThat(redis.client().get("k:" + RECORDS)).isEqualTo(Integer.toString(RECORDS));
	}

	@ParameterizedTest
	@CsvSource({ "COMMANDS, 5000, 0, false", "REPLIES, 5000, 0, false", "COMMANDS, 5000, 0, true",
			"COMMANDS, 5000, 2, true" })
	void aUrlIsClosedWhenItsJobHasLostRedis(Way way, int messages, int retries, boolean dead) throws Exception {
		Resource resource = server.put("/a.ndjson", "application/x-ndjson", BODY).holdAt(lines(HELD).length);
		JsonNode job = lose("url", way, messages, retries, dead);
		await().until(resource::isLeft);
		assertThat(job.at("/inputComplete").asBoolean(true)).isFalse();
		assertThat(resource.requests()).hasSize(1);
	}

	@ParameterizedTest
	@CsvSource({ "COMMANDS, 5000, 0, false", "REPLIES, 5000, 0, false", "COMMANDS, 5000, 0, true",
			"COMMANDS, 5000, 2, true" })
	void aQueryEndsWhenItsJobHasLostRedis(Way way, int messages, int retries, boolean dead) throws Exception {
		JsonNode job = lose("query", way, messages, retries, dead);
		assertThat(job.at("/inputComplete").asBoolean(true)).isFalse();
		await().until(() -> busyConnections().equals("0"));
		// The next job gets the only connection.
		assertThat(Answer.counts(load("query", 0, "").get(60, TimeUnit.SECONDS).report()).applied()).isEqualTo(RECORDS);
		await().until(() -> busyConnections().equals("0"));
	}

	/**
	 * A source that gives nothing does not keep a job from noticing that Redis is dead.
	 */
	@Test
	void anAsynchronousJobWhoseSourceHoldsBackEndsWithItsAccount() throws Exception {
		Resource resource = server.put("/a.ndjson", "application/x-ndjson", BODY).holdAt(lines(HELD).length);
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.COMMANDS, 5000, 9);
		Answer begun = this.service.send(this.service.request(path("url", 0, ""))
			.header("Prefer", "respond-async")
			.POST(BodyPublishers.noBody()));
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		resource.awaitPause();
		link.reset();
		String location = begun.headers().firstValue("Location").orElseThrow();
		await().until(() -> this.service.get(location).json().at("/state").asString().equals("failed"));
		assertAccount(this.service.get(location).json());
		await().until(resource::isLeft);
	}

	private JsonNode lose(String from, Way way, int messages, int retries, boolean dead) throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(way, messages, 9);
		CompletableFuture<Answer> answer = load(from, HELD,
				"&retries=" + retries + ((retries == 0) ? "&timeout=60s" : ""));
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		if (dead) {
			redis.kill();
		}
		try {
			link.reset();
			Answer lost = answer.get(120, TimeUnit.SECONDS);
			JsonNode job = lost.job(502, "redis-lost", "failed");
			Counts counts = assertAccount(job);
			if (!dead) {
				assertThat(redis.client().dbsize()).isBetween(counts.applied(), counts.applied() + counts.unknown());
			}
			return job;
		}
		finally {
			if (dead) {
				redis.restart();
			}
		}
	}

	private static Counts assertAccount(JsonNode job) {
		Counts counts = Answer.counts(job);
		assertThat(counts.applied() + counts.unknown() + counts.unprocessed()).isEqualTo(counts.received());
		// A few of the messages may be those of a handshake.
		assertThat(counts.received()).isBetween(4900L, (long) HELD);
		assertThat(counts.unknown()).isPositive();
		assertThat(job.at("/nextIndex").asLong()).isEqualTo(counts.received());
		return counts;
	}

	/** Those that run a query, or are in the middle of its transaction. */
	private static String busyConnections() {
		return postgres.ask("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
				+ " AND state <> 'idle' AND pid <> pg_backend_pid()");
	}

	private CompletableFuture<Answer> load(String from, int held, String settings) {
		return this.service.sendAsync(this.service.request(path(from, held, settings)).POST(BodyPublishers.noBody()));
	}

	private static String path(String from, int held, String settings) {
		String source = (from.equals("url"))
				? "&url=" + URLEncoder.encode(server.url("/a.ndjson"), StandardCharsets.UTF_8)
				: "&source=numbers&param.last=" + held;
		return "/v1/jobs?from=" + from + source + "&op=SET&key=k:%7Bid%7D&value=%7Bid%7D&coalesce=off" + settings;
	}

}
