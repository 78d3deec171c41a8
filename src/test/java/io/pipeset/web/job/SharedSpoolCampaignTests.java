package io.pipeset.web.job;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.ServiceProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Two or three processes share a spool directory and run random uploads. One after the
 * other is killed at a random moment, or paused for longer than its lease. Each job ends
 * once without a request, or says what to do, and its account is held against the data;
 * no record that must not run twice does. {@code -Dcampaign.kills=N} runs N seeds,
 * {@code -Dcampaign.seed=7} repeats one.
 */
@EnabledIfSystemProperty(named = "campaign.seeds", matches = ".+")
@ProcessTest
class SharedSpoolCampaignTests {

	private static final int SEEDS = 20;

	private static final RedisCommands<String, String> redis = TestRedis.shared().client();

	@TempDir
	static Path spool;

	/** The living processes. */
	private static final List<ServiceProcess> instances = new ArrayList<>();

	static LongStream seeds() {
		Long one = Long.getLong("campaign.seed");
		return (one != null) ? LongStream.of(one) : LongStream.range(0, Integer.getInteger("campaign.kills", SEEDS));
	}

	@AfterAll
	static void end() {
		instances.forEach(ServiceProcess::close);
	}

	@BeforeEach
	void emptyRedis() {
		redis.flushall();
	}

	@ParameterizedTest
	@MethodSource("seeds")
	void eachJobEndsOnceAndItsAccountIsTrue(long seed) throws Exception {
		Random random = new Random(seed);
		while (instances.size() < 2 + random.nextInt(2)) {
			start();
		}
		Map<RandomUpload, String> jobs = new LinkedHashMap<>();
		for (int i = 0; jobs.size() < 4; i++) {
			RandomUpload upload = new RandomUpload("s" + seed + "-" + i, random);
			if (upload.isAsynchronous() && !upload.isKeyed()) {
				jobs.put(upload, post(upload, random));
			}
		}
		List<ServiceProcess> paused = new ArrayList<>();
		for (int trouble = random.nextInt(2); trouble < 2 && instances.size() > 1; trouble++) {
			TimeUnit.MILLISECONDS.sleep(random.nextInt(500));
			ServiceProcess hit = any(random);
			if (random.nextBoolean()) {
				instances.remove(hit);
				paused.remove(hit);
				hit.kill();
			}
			else if (!paused.contains(hit)) {
				hit.pause();
				paused.add(hit);
			}
		}
		TimeUnit.MILLISECONDS.sleep((paused.isEmpty()) ? 0 : random.nextInt(6000));
		for (ServiceProcess process : paused) {
			process.goOn();
		}
		ServiceProcess other = any(random);
		jobs.values().forEach((job) -> awaitEnd(other, job));
		jobs.forEach(SharedSpoolCampaignTests::check);
	}

	private static String post(RandomUpload upload, Random random) {
		upload.prepare(redis);
		ServiceProcess instance = any(random);
		Answer answer = instance.service()
			.send(upload.request(instance.service(), "&retries=3&rateLimit=" + (1000 + random.nextInt(20_000))));
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return answer.header("Location").replaceFirst("^.*(?=/v1/)", "");
	}

	private static void awaitEnd(ServiceProcess instance, String job) {
		await().untilAsserted(() -> {
			JsonNode look = instance.service().get(job).json();
			String state = look.path("state").asString("");
			assertThat(state).as(look.toString()).isIn("completed", "failed", "interrupted");
			// One that will be resumed is interrupted for a moment.
			assertThat(!state.equals("interrupted") || look.at("/ending/detail").asString("").contains("not run twice"))
				.as(look.toString())
				.isTrue();
		});
	}

	private static void check(RandomUpload upload, String job) {
		ServiceProcess owner = instances.stream()
			.filter((instance) -> !instance.service().get(job).json().has("instance"))
			.findFirst()
			.orElse(null);
		JsonNode report = instances.get(0).service().get(job).json();
		if (owner != null) {
			report = owner.service().get(job).json();
			if (owner.service().get(job + "/items").status() == 200) {
				upload.assertItems(redis, report, owner.service(), job);
			}
		}
		Counts counts = Answer.counts(report);
		String state = report.get("state").asString();
		assertThat(state).as(upload + report.toString()).isIn("completed", "failed", "interrupted");
		int most = (int) (counts.applied() + counts.unknown());
		assertThat(upload.ran(redis).cardinality()).as(upload + report.toString())
			.isBetween((int) counts.applied(), most);
		if (upload.isRepeatable() && state.equals("completed")) {
			assertThat(counts).as(upload + report.toString())
				.isEqualTo(new Counts(upload.size(), upload.size() - upload.bad().cardinality(), 0,
						upload.bad().cardinality(), 0, 0));
		}
	}

	private static ServiceProcess any(Random random) {
		return instances.get(random.nextInt(instances.size()));
	}

	private static void start() throws Exception {
		instances.add(ServiceProcess.start(TestRedis.shared(), "--pipeset.spool.directory=" + spool,
				"--pipeset.jobs.resume=auto", "--pipeset.jobs.lease=2s", "--pipeset.limits.max-running-jobs=8"));
	}

}
