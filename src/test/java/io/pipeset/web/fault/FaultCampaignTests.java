package io.pipeset.web.fault;

import java.net.http.HttpRequest.BodyPublishers;
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
import java.util.stream.Stream;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.pipeset.engine.pipeline.OpenConnections;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Breaks the way to Redis, or Redis itself, at a random place of a random job, and holds
 * the report against the data. Health checks run beside the job, and the next job follows
 * at once. A seed picks all of it: {@code -Dcampaign.seeds=1000} runs a thousand seeds,
 * {@code -Dcampaign.seed=7} repeats one. Threads decide at which record a job breaks off,
 * so that a seed repeats the job and the fault, but not every outcome.
 */
@ServiceTest(properties = { "pipeset.limits.max-items=100000", "pipeset.pipeline.connect-timeout=3s",
		"spring.data.redis.timeout=3s" })
class FaultCampaignTests {

	private static final Logger logger = LoggerFactory.getLogger(FaultCampaignTests.class);

	private static final int SEEDS = 25;

	/** The records of a job that begins while Redis stalls. */
	private static final int LATE = 100;

	private static final List<FaultTrouble> TROUBLES = List.of(FaultTrouble.values());

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy("appendonly yes", "appendfsync always");

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private static final Queue<String> leaks = new ConcurrentLinkedQueue<>();

	private static final ResourceLeakDetector.Level leakLevel = ResourceLeakDetector.getLevel();

	private final Service service;

	private final OpenConnections.Count connections;

	FaultCampaignTests(Service service, @Autowired OpenConnections.Count connections) {
		this.service = service;
		this.connections = connections;
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
	static void nothingLeaked() {
		// Netty reports a leak when it makes a later buffer.
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
		// The troubles take turns, so that the few seeds of a build meet all of them.
		FaultTrouble trouble = TROUBLES.get((int) (seed % TROUBLES.size()));
		FaultWorkload workload = FaultWorkload.pick(random, trouble);
		Way way = (random.nextBoolean()) ? Way.COMMANDS : Way.REPLIES;
		long messages = (long) (workload.records().size() * 1.1 * Math.pow(random.nextDouble(), 2));
		int bytes = (random.nextBoolean()) ? 0 : random.nextInt(30);
		boolean early = trouble.isSilent() && random.nextInt(3) == 0;
		boolean probed = trouble == FaultTrouble.STALL || random.nextBoolean();
		String picked = "seed %d: %s, %s after %d messages and %d bytes of %s, %d records%s%s%s (-Dcampaign.seed=%d)"
			.formatted(seed, workload.path(), trouble, messages, bytes, way, workload.records().size(),
					(workload.pace() != null && workload.mediaType() != null) ? ", paced" : "",
					(early) ? ", followed at once" : "", (probed) ? ", probed" : "", seed);
		try {
			// Health checks take turns with jobs, on connections that both have used
			// before.
			this.service.post("/pipeset/500?flush=each&concurrency=4&retries=10&timeout=60s").report();
			FaultData.prepare(redis, workload);
			trouble.prepare(redis, proxy, workload.body().length());
			CompletableFuture<ProxyLink> place = (trouble.hasPlace()) ? proxy.stopAt(way, messages, bytes)
					: new CompletableFuture<>();
			CompletableFuture<Answer> next = null;
			FaultAccount account;
			try {
				account = run(workload, trouble, place, probed);
				logger.info("{}: {}", picked, account);
				next = (early) ? writeAgain(workload, seed) : null;
			}
			finally {
				trouble.end(redis, proxy);
			}
			if (next != null) {
				account.check();
			}
			else {
				awaitQuiet();
				account.check();
				new FaultData(account).check(redis, this.service);
				next = writeAgain(workload, seed);
			}
			checkWrittenAgain(next.get(90, TimeUnit.SECONDS), workload, seed);
			checkNothingIsLeftBehind();
			checkWrittenAgain(workload, seed);
		}
		catch (Exception | AssertionError ex) {
			throw new AssertionError(picked, ex);
		}
	}

	private FaultAccount run(FaultWorkload workload, FaultTrouble trouble, CompletableFuture<ProxyLink> place,
			boolean probed) throws Exception {
		try (HealthProbes probes = (probed) ? new HealthProbes(this.service) : null) {
			CompletableFuture<Answer> answer = this.service.sendAsync(workload.request(this.service));
			CompletableFuture.anyOf(place, answer).get(60, TimeUnit.SECONDS);
			if (place.isDone()) {
				trouble.strike(redis, proxy, place.join());
			}
			if (trouble == FaultTrouble.STALL && place.isDone()) {
				beginWhileOthersGiveUp(probes);
			}
			return new FaultAccount(workload, trouble, answer.get(60, TimeUnit.SECONDS));
		}
	}

	/**
	 * A job that begins while others give up must not take a late answer for one of its
	 * own.
	 */
	private void beginWhileOthersGiveUp(HealthProbes probes) throws Exception {
		probes.awaitUnanswered();
		// The pool lends those connections next that the probes have given back.
		probes.close();
		long before = inFlight();
		CompletableFuture<Answer> late = this.service
			.sendAsync(this.service.uploading("/v1/jobs?results=all&flush=buffered:10&retries=10&timeout=60s",
					Service.NDJSON, Lines.of(LATE, (i) -> "[\"RPUSH\",\"late\",\"" + i + "\"]")));
		await().until(() -> late.isDone() || inFlight() > before);
		proxy.heal();
		JsonNode report = late.get(60, TimeUnit.SECONDS).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(LATE, LATE, 0, 0, 0, 0));
		assertThat(report.get("items").valueStream().map((item) -> item.get("reply").asString("")))
			.isEqualTo(IntStream.rangeClosed(1, LATE).mapToObj(Integer::toString).toList());
	}

	private long inFlight() {
		return this.service.get("/actuator/pipeset").json().at("/inFlightBytes").asLong();
	}

	/**
	 * Waits until all sides agree on which connections are open. Commands that were on
	 * their way have run by then.
	 */
	private void awaitQuiet() {
		await().ignoreExceptions().untilAsserted(() -> {
			int links = proxy.links();
			assertThat(this.connections.now()).as(proxy.toString()).isEqualTo(links);
			// The connection for the records of jobs goes past the proxy, to database 1.
			assertThat(redis.client().clientList().lines().filter((client) -> client.contains(" db=0 ")).count())
				.isEqualTo(links + 1);
		});
	}

	private void checkNothingIsLeftBehind() {
		assertThat(this.connections.now()).isLessThanOrEqualTo(16 + 4);
		await().untilAsserted(() -> {
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

	/** Runs the next job, on the same pool and with the same keys. */
	private CompletableFuture<Answer> writeAgain(FaultWorkload workload, long seed) {
		String[] lines = keys(workload).map((key) -> "[\"SET\",\"%s\",\"%s-%d\"]".formatted(key, key, seed))
			.toArray(String[]::new);
		return this.service.sendAsync(this.service.request("/v1/jobs?concurrency=4&batchSize=20&retries=10&timeout=60s")
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString(String.join("\n", lines))));
	}

	private void checkWrittenAgain(Answer answer, FaultWorkload workload, long seed) {
		long count = keys(workload).count();
		assertThat(Answer.counts(answer.report())).isEqualTo(new Counts(count, count, 0, 0, 0, 0));
		awaitQuiet();
		checkWrittenAgain(workload, seed);
	}

	/** No command of the job before may have run late. */
	private static void checkWrittenAgain(FaultWorkload workload, long seed) {
		assertThat(redis.client().mget(keys(workload).toArray(String[]::new)))
			.allSatisfy((key) -> assertThat(key.getValue()).isEqualTo(key.getKey() + "-" + seed));
	}

	private static Stream<String> keys(FaultWorkload workload) {
		return Stream
			.concat(workload.records().stream().flatMap((record) -> record.keys().stream()),
					IntStream.range(0, 100).mapToObj((i) -> "next:" + i))
			.distinct()
			.limit(500);
	}

	/** Counts the service's connections. */
	@TestConfiguration(proxyBeanMethods = false)
	static class Connections extends OpenConnections {

	}

}
