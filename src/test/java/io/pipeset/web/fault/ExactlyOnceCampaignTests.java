package io.pipeset.web.fault;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.OwnThread;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.Sentinels;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.ServiceTest;
import io.pipeset.web.fault.OnceLoad.Caller;
import io.pipeset.web.fault.OnceLoad.Outcome;
import io.pipeset.web.fault.OnceRecords.OnceCounts;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Breaks connections, Redis, processes and masters under loads with {@code exactlyOnce},
 * and counts the records that are lost, doubled or unknown. The same cuts and ends of
 * Redis hit what people use otherwise. A table at the end has all of them.
 * {@code -Dcampaign.seeds=1000} runs a thousand seeds, {@code -Dcampaign.seed=7} repeats
 * one.
 */
@EnabledIfSystemProperty(named = "campaign.seeds", matches = ".+")
@ProcessTest
@ServiceTest(
		properties = { "pipeset.jobs.resume=auto", "pipeset.jobs.lease=2s", "pipeset.pipeline.memory-warnings=false" })
class ExactlyOnceCampaignTests {

	/** No extensions, which would start them where these tests do not run. */
	static final TestRedis redis = TestRedis.start("appendonly yes", "appendfsync always", "save \"\"");

	static final TestRedis control = TestRedis.start("appendonly yes");

	static final FaultProxy proxy = FaultProxy.open(redis);

	private static final Logger logger = LoggerFactory.getLogger(ExactlyOnceCampaignTests.class);

	private static final OnceTable table = new OnceTable();

	/** The living processes, which share a directory. */
	private static final List<Instance> instances = new ArrayList<>();

	@TempDir
	static Path spool;

	private static int started;

	private static @Nullable Sentinels sentinels;

	private static @Nullable ServiceProcess besideSentinels;

	private final Service service;

	ExactlyOnceCampaignTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		throughProxy().forEach((name, value) -> registry.add(name, () -> value));
	}

	private static Map<String, String> throughProxy() {
		Map<String, String> properties = new HashMap<>(redis.properties());
		properties.putAll(control.controlProperties());
		properties.put("spring.data.redis.host", "127.0.0.1");
		properties.put("spring.data.redis.port", Integer.toString(proxy.port()));
		return properties;
	}

	@AfterAll
	static void end() throws Exception {
		table.print();
		instances.forEach((instance) -> instance.process.close());
		if (besideSentinels != null) {
			besideSentinels.close();
		}
		if (sentinels != null) {
			sentinels.end();
		}
		proxy.close();
		redis.close();
		control.close();
	}

	@BeforeEach
	void emptyRedis() {
		redis.client().flushall();
	}

	static LongStream seeds() {
		Long one = Long.getLong("campaign.seed");
		return (one != null) ? LongStream.of(one) : LongStream.rangeClosed(1, Integer.getInteger("campaign.seeds", 1));
	}

	@ParameterizedTest(name = "seed {0}")
	@MethodSource("seeds")
	void eachRecordRunsOnce(long seed) throws Exception {
		Random random = new Random(seed * 0x9E3779B97F4A7C15L);
		int kind = random.nextInt(100);
		try {
			if (kind < 70) {
				breakWay("cut", OnceFaults::cut, 1 + random.nextInt(16), seed, random);
			}
			else if (kind < 85) {
				breakWay("kill -9 Redis", OnceFaults::killRedis, 1 + random.nextInt(3), seed, random);
			}
			else if (kind < 95) {
				killProcess(seed, random);
			}
			else if (kind < 98) {
				pauseProcess(seed, random);
			}
			else {
				failOver(seed, random);
			}
		}
		catch (Exception | AssertionError ex) {
			throw new AssertionError("-Dcampaign.seed=" + seed, ex);
		}
		finally {
			proxy.heal();
		}
	}

	private void breakWay(String kind, Strike strike, int many, long seed, Random random) throws Exception {
		OnceRecords records = OnceRecords.pick("s" + seed + "-", random, 1000);
		OnceLoad load = OnceLoad.pick(records, random, List.of(Caller.values()).get(random.nextInt(3)));
		// An upload that is interrupted goes on after some seconds.
		int most = (load.caller() == Caller.LOOKING && load.settings().contains("retries=0")) ? Math.min(many, 3)
				: many;
		long faults = random.nextLong();
		CompletableFuture<@Nullable Answer> sent = load.send(this.service);
		CompletableFuture<Outcome> outcome = load.finish(this.service, sent);
		int struck = strike.until(new OnceFaults(faults, proxy, redis, records.size()), most, outcome);
		check(kind, struck, load, outcome.join(), redis.client());
		// Redis logs each write before it answers.
		assertThat(outcome.join().state()).doesNotContain("Redis has lost");
		if (load.caller() != Caller.WAITING || (load.settings().contains("retries=10&") && struck <= 10)) {
			assertThat(outcome.join().isComplete(records)).as("%s: %s", load, outcome.join()).isTrue();
		}
		for (OnceRivals rival : OnceRivals.values()) {
			if (rival.isInstalled()) {
				redis.client().flushall();
				CompletableFuture<BitSet> loaded = OwnThread.supply(() -> rival.load(records, redis, proxy.port()));
				struck = strike.until(new OnceFaults(faults, proxy, redis, records.size()), most, loaded);
				BitSet unknown = loaded.join();
				OnceCounts counts = records.count(redis.client(), records.size() - unknown.cardinality(), unknown);
				logger.info("seed {}: {} with {} {}", seed, rival, struck, counts);
				table.add(kind, rival.toString(), struck, counts, counts.unknown(), 0);
			}
		}
	}

	/** Kills the process of two loads; the next one, or a neighbour, finishes both. */
	private void killProcess(long seed, Random random) throws Exception {
		if (instances.isEmpty()) {
			start();
		}
		Instance killed = instances.get(random.nextInt(instances.size()));
		List<OnceLoad> loads = Stream.of(Caller.REPEATING, Caller.LOOKING)
			.map((caller) -> OnceLoad
				.pick(OnceRecords.pick("s" + seed + caller.name().charAt(0) + "-", random, 2000), random, caller)
				.slow())
			.toList();
		OnceFaults faults = new OnceFaults(random.nextLong(), proxy, redis, 6000);
		List<CompletableFuture<@Nullable Answer>> sent = loads.stream()
			.map((load) -> load.send(killed.service()))
			.toList();
		// What is killed before it has answered is not accepted.
		sent.get(1).join();
		// Most loads take no second; one that has ended is looked at and repeated as
		// well.
		ProxyLink link = faults.reach(killed.name, 1,
				new CompletableFuture<>().completeOnTimeout(null, 3, TimeUnit.SECONDS));
		int passes = random.nextInt(3);
		if (link != null && passes == 0) {
			link.goOn();
		}
		instances.remove(killed);
		killed.process.kill();
		if (link != null && passes == 1) {
			link.goOn();
		}
		if (instances.isEmpty()) {
			start();
		}
		Service next = instances.get(0).service();
		List<CompletableFuture<Outcome>> outcomes = List.of(loads.get(0).finish(next, sent.get(0)),
				loads.get(1).finish(next, sent.get(1)));
		int cuts = faults.cut(random.nextInt(4), CompletableFuture.allOf(outcomes.toArray(CompletableFuture[]::new)));
		for (int i = 0; i < loads.size(); i++) {
			Outcome outcome = outcomes.get(i).join();
			proxy.heal();
			check("kill -9 service", (i > 0) ? 0 : cuts + ((link != null) ? 1 : 0), loads.get(i), outcome,
					redis.client());
			assertThat(outcome.isComplete(loads.get(i).records())).as("%s: %s", loads.get(i), outcome).isTrue();
		}
	}

	/**
	 * Pauses a process, until another one has finished its load if its caller repeats it.
	 */
	private void pauseProcess(long seed, Random random) throws Exception {
		while (instances.size() < 2) {
			start();
		}
		Instance paused = instances.get(random.nextInt(instances.size()));
		Instance other = instances.get((instances.indexOf(paused) + 1) % instances.size());
		OnceRecords records = OnceRecords.pick("s" + seed + "-", random, 3000);
		OnceLoad load = OnceLoad.pick(records, random, (random.nextBoolean()) ? Caller.REPEATING : Caller.LOOKING)
			.slow();
		CompletableFuture<@Nullable Answer> sent = load.send(paused.service());
		if (load.caller() == Caller.LOOKING) {
			sent.join();
		}
		ProxyLink link = new OnceFaults(random.nextLong(), proxy, redis, records.size()).reach(paused.name, 1,
				(load.caller() == Caller.LOOKING)
						? new CompletableFuture<>().completeOnTimeout(null, 3, TimeUnit.SECONDS) : sent);
		paused.process.pause();
		CompletableFuture<Outcome> outcome;
		try {
			if (link != null && random.nextBoolean()) {
				link.goOn();
			}
			if (load.caller() == Caller.REPEATING) {
				outcome = load.finish(other.service(), CompletableFuture.completedFuture(null));
				outcome.join();
			}
			else {
				// Its process lives and keeps the upload, even if its lease is over.
				TimeUnit.MILLISECONDS.sleep(random.nextInt(6000));
				outcome = load.finish(other.service(), sent);
			}
		}
		finally {
			proxy.heal();
			paused.process.goOn();
		}
		sent.join();
		await().until(() -> paused.service().get("/actuator/pipeset").json().at("/jobsRunning").asInt(-1) == 0);
		check("SIGSTOP service", (link != null) ? 1 : 0, load, outcome.join(), redis.client());
		assertThat(outcome.join().isComplete(records)).as("%s: %s", load, outcome.join()).isTrue();
	}

	private void failOver(long seed, Random random) throws Exception {
		Sentinels watched = (sentinels != null) ? sentinels : Sentinels.start();
		sentinels = watched;
		watched.awaitReady();
		ServiceProcess process = (besideSentinels != null) ? besideSentinels : startBeside(watched);
		besideSentinels = process;
		TestRedis master = watched.master();
		master.client().flushall();
		OnceRecords records = OnceRecords.pick("s" + seed + "-", random, 15_000);
		OnceLoad load = new OnceLoad(records, "&batchSize=100&retries=10&timeout=60s&rateLimit=5000",
				List.of(Caller.values()).get(random.nextInt(3)));
		CompletableFuture<@Nullable Answer> sent = load.send(process.service());
		int ran = random.nextInt(2000);
		await().until(() -> records.count(master.client(), 0, new BitSet()).found() >= ran);
		boolean killed = random.nextInt(3) == 0;
		if (killed) {
			watched.kill(master);
		}
		else {
			watched.failOver();
		}
		try {
			Outcome outcome = load.finish(process.service(), sent).join();
			check("failover", 1, load, outcome, watched.master().client());
		}
		finally {
			if (killed) {
				watched.restart(master);
			}
		}
	}

	private static void check(String kind, int struck, OnceLoad load, Outcome outcome,
			RedisCommands<String, String> data) {
		OnceRecords records = load.records();
		OnceCounts counts = records.count(data, outcome.applied(), new BitSet());
		logger.info("{}: {} with {} {}, {} {}", load, kind, struck, counts, outcome,
				(outcome.isComplete(records)) ? "" : "INCOMPLETE");
		table.add(kind, "exactlyOnce", struck, counts, outcome.unknown(), records.size() - outcome.applied());
		assertThat(counts).as("%s: %s", load, outcome)
			.isEqualTo(new OnceCounts(records.size(), outcome.applied(), 0, 0, 0, 0));
		assertThat(outcome.unknown() + outcome.odd()).as("%s: %s", load, outcome).isZero();
	}

	private static void start() throws Exception {
		String name = "process" + started++;
		Map<String, String> properties = throughProxy();
		properties.put("spring.data.redis.client-name", name);
		instances.add(new Instance(name, ServiceProcess.start(redis, arguments(properties, "shared"))));
	}

	private static ServiceProcess startBeside(Sentinels watched) throws Exception {
		Map<String, String> environment = new HashMap<>();
		Stream.of(watched.properties(), control.controlProperties())
			.forEach((properties) -> properties
				.forEach((name, value) -> environment.put(name.toUpperCase(Locale.ROOT).replace('.', '_'), value)));
		return ServiceProcess.start(environment, arguments(Map.of(), "sentinels"));
	}

	private static String[] arguments(Map<String, String> properties, String directory) {
		return Stream.concat(
				Stream.of("--pipeset.spool.directory=" + spool.resolve(directory), "--pipeset.jobs.resume=auto",
						"--pipeset.jobs.lease=2s", "--pipeset.pipeline.memory-warnings=false"),
				properties.entrySet().stream().map((property) -> "--" + property))
			.toArray(String[]::new);
	}

	/** Strikes a load until it has ended. */
	private interface Strike {

		int until(OnceFaults faults, int most, CompletableFuture<?> load) throws Exception;

	}

	/** A process of the service. */
	private record Instance(String name, ServiceProcess process) {

		Service service() {
			return this.process.service();
		}

	}

}
