package io.pipeset.web;

import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.pipeset.pipeline.OpenConnections;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Breaks the way to Redis, or Redis, at a random place of a random job, and holds the
 * report against the data. A seed picks all of it; {@code -Dcampaign.seeds=1000} runs so
 * many, {@code -Dcampaign.seed=7} one again. Where a job that breaks ends is up to the
 * threads, so that a seed replays what happened, and not to the last record how.
 */
@ServiceTest(properties = { "pipeset.limits.max-items=100000", "pipeset.pipeline.connect-timeout=1s" })
class FaultCampaignTests {

	private static final Logger logger = LoggerFactory.getLogger(FaultCampaignTests.class);

	private static final int SEEDS = 25;

	private static final List<FaultTrouble> TROUBLES = List.of(FaultTrouble.values());

	private static final Duration SOON = Duration.ofSeconds(10);

	private static final TestRedis redis = TestRedis.start("appendonly yes", "appendfsync always");

	private static final FaultProxy proxy = FaultProxy.open(redis);

	private static final Queue<String> leaks = new ConcurrentLinkedQueue<>();

	private static final ResourceLeakDetector.Level leakLevel = ResourceLeakDetector.getLevel();

	private final Service service;

	private final OpenConnections.Count connections;

	FaultCampaignTests(Service service, @Autowired OpenConnections.Count connections) {
		this.service = service;
		this.connections = connections;
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		redis.register(registry);
		registry.add("spring.data.redis.host", () -> "127.0.0.1");
		registry.add("spring.data.redis.port", proxy::port);
	}

	@BeforeAll
	static void watchForLeaks() {
		ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
		AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {

			@Override
			protected void append(ILoggingEvent event) {
				leaks.add(event.getFormattedMessage());
			}

		};
		appender.start();
		((ch.qos.logback.classic.Logger) LoggerFactory.getLogger(ResourceLeakDetector.class)).addAppender(appender);
	}

	@AfterAll
	static void end() {
		proxy.close();
		redis.close();
		// A leak is reported when a later buffer is made.
		System.gc();
		for (int i = 0; i < 100; i++) {
			PooledByteBufAllocator.DEFAULT.directBuffer(256).release();
		}
		ResourceLeakDetector.setLevel(leakLevel);
		assertThat(leaks).isEmpty();
	}

	static LongStream seeds() {
		Long one = Long.getLong("campaign.seed");
		return (one != null) ? LongStream.of(one)
				: LongStream.rangeClosed(1, Integer.getInteger("campaign.seeds", SEEDS));
	}

	@ParameterizedTest(name = "seed {0}")
	@MethodSource("seeds")
	void everyRecordIsAccountedFor(long seed) throws Exception {
		Random random = new Random(seed * 0x9E3779B97F4A7C15L);
		// In turn, so that the few seeds of a build meet all of them.
		FaultTrouble trouble = TROUBLES.get((int) (seed % TROUBLES.size()));
		FaultWorkload workload = FaultWorkload.pick(random, trouble);
		Way way = (random.nextBoolean()) ? Way.COMMANDS : Way.REPLIES;
		long messages = (long) (workload.records().size() * 1.1 * Math.pow(random.nextDouble(), 2));
		int bytes = (random.nextBoolean()) ? 0 : random.nextInt(30);
		String picked = "seed %d: %s, %s after %d messages and %d bytes of %s, %d records (-Dcampaign.seed=%d)"
			.formatted(seed, workload.path(), trouble, messages, bytes, way, workload.records().size(), seed);
		try {
			FaultAccount account = run(workload, trouble, way, messages, bytes);
			logger.info("{}: {}", picked, account);
			account.check(redis);
			checkNothingIsLeftBehind();
			checkNextJob(seed);
		}
		catch (Exception | AssertionError ex) {
			throw new AssertionError(picked, ex);
		}
	}

	private FaultAccount run(FaultWorkload workload, FaultTrouble trouble, Way way, long messages, int bytes)
			throws Exception {
		FaultAccount.prepare(redis, workload);
		String body = workload.body();
		trouble.prepare(redis, proxy, body.length());
		CompletableFuture<ProxyLink> place = (trouble.hasPlace()) ? proxy.stopAt(way, messages, bytes)
				: new CompletableFuture<>();
		CompletableFuture<Answer> answer = this.service.sendAsync(
				(workload.mediaType() == null) ? this.service.request(workload.path()).POST(BodyPublishers.noBody())
						: this.service.request(workload.path())
							.header("Content-Type", workload.mediaType())
							.POST(BodyPublishers.ofString(body)));
		try {
			CompletableFuture.anyOf(place, answer).get(30, TimeUnit.SECONDS);
			if (place.isDone()) {
				trouble.strike(redis, proxy, place.join());
			}
			return new FaultAccount(workload, trouble, answer.get(30, TimeUnit.SECONDS));
		}
		finally {
			trouble.end(redis, proxy);
			awaitQuiet();
		}
	}

	/**
	 * Until each connection is known to be open or closed at all of its ends; what had
	 * been on its way has run by then.
	 */
	private void awaitQuiet() {
		await().atMost(SOON).pollInterval(Duration.ofMillis(2)).ignoreExceptions().untilAsserted(() -> {
			int links = proxy.links();
			assertThat(this.connections.now()).as(proxy.toString()).isEqualTo(links);
			assertThat(redis.client().clientList().lines().count()).isEqualTo(links + 1);
		});
	}

	private void checkNothingIsLeftBehind() {
		assertThat(this.connections.now()).isLessThanOrEqualTo(16 + 2);
		await().atMost(SOON).pollInterval(Duration.ofMillis(2)).untilAsserted(() -> {
			JsonNode now = this.service.get("/actuator/pipeset").json();
			assertThat(now.at("/jobsRunning").asInt(-1)).isZero();
			assertThat(now.at("/jobsWaiting").asInt(-1)).isZero();
			assertThat(now.at("/lanes/busy").asInt(-1)).isZero();
			assertThat(now.at("/inFlightBytes").asLong(-1)).isZero();
			assertThat(busyLanes()).isEmpty();
		});
		assertThat(leaks).isEmpty();
	}

	private static List<Thread> busyLanes() {
		return Thread.getAllStackTraces()
			.entrySet()
			.stream()
			.filter((thread) -> thread.getKey().getName().startsWith("lane-"))
			.filter((thread) -> Arrays.stream(thread.getValue())
				.anyMatch((frame) -> frame.getClassName().startsWith("io.pipeset")))
			.map(Map.Entry::getKey)
			.toList();
	}

	/** On the same pool, with nothing broken any more. */
	private void checkNextJob(long seed) {
		int count = 200;
		String[] lines = IntStream.range(0, count)
			.mapToObj((i) -> "{\"op\":\"SET\",\"key\":\"next:%d\",\"value\":\"%d-%d\"}".formatted(i, seed, i))
			.toArray(String[]::new);
		assertThat(Answer.counts(this.service.ndjson("/v1/jobs?concurrency=4&batchSize=20", lines).report()))
			.isEqualTo(new Counts(count, count, 0, 0, 0, 0));
		assertThat(redis.client().mget(IntStream.range(0, count).mapToObj((i) -> "next:" + i).toArray(String[]::new)))
			.extracting((value) -> value.getValue())
			.isEqualTo(IntStream.range(0, count).mapToObj((i) -> seed + "-" + i).toList());
	}

	/** Counts connections. */
	@TestConfiguration(proxyBeanMethods = false)
	static class Connections extends OpenConnections {

	}

}
