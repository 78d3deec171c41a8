package io.pipeset.web.job;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Two processes of the service share a control Redis and run random uploads, with and
 * without keys. One of them is killed at a random place of what it hears from Redis,
 * looked at from the other one, and started again; what may go on does. Each account is
 * held against the data, and no request with a key runs twice, whoever it is sent to.
 * {@code -Dcampaign.kills=N} runs N seeds, {@code -Dcampaign.seed=7} repeats one.
 */
@EnabledIfSystemProperty(named = "campaign.seeds", matches = ".+")
@ProcessTest
class KilledReplicaCampaignTests {

	private static final int SEEDS = 20;

	private static final RedisCommands<String, String> redis = TestRedis.shared().client();

	/**
	 * The way of both to their data, as they would not know each other's jobs otherwise.
	 */
	private static final FaultProxy data = FaultProxy.open(TestRedis.shared());

	@TempDir
	static Path spools;

	private static final List<Instance> instances = new ArrayList<>();

	static LongStream seeds() {
		Long one = Long.getLong("campaign.seed");
		return (one != null) ? LongStream.of(one) : LongStream.range(0, Integer.getInteger("campaign.kills", SEEDS));
	}

	@BeforeAll
	static void start() throws Exception {
		for (int i = 0; i < 2; i++) {
			instances.add(new Instance("instance" + i));
		}
		for (Instance instance : instances) {
			instance.start();
		}
	}

	@AfterAll
	static void end() {
		instances.forEach(Instance::close);
		data.close();
	}

	@BeforeEach
	void emptyRedis() {
		redis.flushall();
	}

	@ParameterizedTest
	@MethodSource("seeds")
	void everyAccountIsTrueAndNothingRunsTwice(long seed) throws Exception {
		Random random = new Random(seed);
		Instance killed = instances.get(random.nextInt(2));
		Instance other = instances.get((instances.indexOf(killed) + 1) % 2);
		List<RandomUpload> uploads = IntStream.range(0, 2 + random.nextInt(4))
			.mapToObj((i) -> new RandomUpload("s" + seed + "-" + i, random))
			.toList();
		Map<RandomUpload, String> locations = new HashMap<>();
		List<RandomUpload> onKilled = new ArrayList<>();
		List<List<CompletableFuture<@Nullable Answer>>> answers = new ArrayList<>();
		boolean control = random.nextInt(4) == 0;
		FaultProxy proxy = (control) ? killed.control : data;
		CompletableFuture<ProxyLink> place = proxy.stopAt((control) ? null : killed.name, Way.REPLIES,
				(control) ? random.nextInt(40) : random.nextInt((random.nextBoolean()) ? 100 : 8000),
				random.nextInt(9));
		for (RandomUpload upload : uploads) {
			upload.prepare(redis);
			boolean here = random.nextInt(3) > 0;
			if (here) {
				onKilled.add(upload);
			}
			// Of two requests with one key, sent at the same instant, one is run.
			boolean there = !here || (upload.isKeyed() && random.nextInt(3) == 0);
			answers.add(Stream.of(killed, other)
				.filter((instance) -> (instance == killed) ? here : there)
				.map((instance) -> instance.service()
					.sendAsync(upload.request(instance.service()))
					.exceptionally((ex) -> null))
				.toList());
		}
		try {
			place.get(1 + random.nextInt(2), TimeUnit.SECONDS);
		}
		catch (TimeoutException ex) {
			// The jobs are shorter than that.
		}
		killed.process().kill();
		for (int i = 0; i < uploads.size(); i++) {
			RandomUpload upload = uploads.get(i);
			for (CompletableFuture<@Nullable Answer> sent : answers.get(i)) {
				Answer answer = sent.get(2, TimeUnit.MINUTES);
				if (answer != null) {
					assertThat(answer.status()).as(upload + answer.text())
						.isIn(200, 202, (answers.get(i).size() > 1) ? 409 : 200);
					String location = answer.header("Location");
					if (other.service().get(location).status() == 200) {
						String before = locations.putIfAbsent(upload, location);
						assertThat(location).as(upload.toString()).isEqualTo((before != null) ? before : location);
					}
				}
			}
		}
		// Commands that are still on their way may reach Redis later.
		if (random.nextBoolean() || !place.isDone()) {
			killed.heal();
		}
		for (RandomUpload upload : uploads) {
			repeat(upload, locations, List.of(other));
		}
		for (RandomUpload upload : onKilled) {
			lookFromElsewhere(upload, locations.get(upload), other);
		}
		killed.start();
		for (RandomUpload upload : onKilled) {
			lookAndGoOn(upload, locations.get(upload), killed, other, random);
		}
		killed.heal();
		for (RandomUpload upload : uploads) {
			Instance at = (onKilled.contains(upload)) ? killed : other;
			if (at == other) {
				JsonNode report = ended(other.service(), locations.get(upload));
				assertThat(report.get("state").asString()).as(upload.toString()).isEqualTo("completed");
				assertCounts(upload, report);
			}
			repeat(upload, locations, instances);
			upload.ran(redis);
		}
	}

	/** A repeat runs nothing, and says where its job is. */
	private static void repeat(RandomUpload upload, Map<RandomUpload, String> locations, List<Instance> at) {
		if (!upload.isKeyed()) {
			return;
		}
		for (Instance instance : at) {
			Answer answer = instance.service().send(upload.request(instance.service()));
			String location = answer.header("Location");
			if (location.isEmpty() || instance.service().get(location).status() == 404) {
				// The process was killed between the claim of the key and the record.
				answer.refusal(409, (location.isEmpty()) ? "interrupted" : "idempotency-key-in-use");
				assertThat(upload.ran(redis)).as(upload.toString()).isEqualTo(new BitSet());
				continue;
			}
			String before = locations.putIfAbsent(upload, location);
			if (before == null) {
				// The first request was lost ahead of its claim, and this one runs.
				assertThat(answer.status()).as(upload + answer.text()).isIn(200, 202, 409);
			}
			else if (!location.equals(before)) {
				// Nothing of the first had run, which frees its key.
				assertThat(answer.status()).as(upload + answer.text()).isIn(200, 202);
				Answer first = instance.service().get(before);
				assertThat(Answer.counts(first.json()).applied()).as(upload + first.text()).isZero();
				locations.put(upload, location);
			}
			else if (answer.status() != 409) {
				assertThat(answer.header("Idempotency-Replayed")).as(upload + answer.text()).isEqualTo("true");
			}
		}
	}

	/** Bounds are true, and nothing more is promised, where the files are not. */
	private static void lookFromElsewhere(RandomUpload upload, @Nullable String location, Instance other) {
		if (location == null) {
			return;
		}
		JsonNode report = ended(other.service(), location);
		long ran = upload.ran(redis).cardinality();
		Counts counts = Answer.counts(report);
		assertThat(counts.applied()).as(upload + report.toString()).isLessThanOrEqualTo(ran);
		if (report.get("state").asString().equals("interrupted")) {
			other.service().post(location + "/resume").refusal(409, "held-elsewhere");
			other.service().get(location + "/items").refusal(409, "held-elsewhere");
		}
		else if (upload.isAsynchronous()) {
			assertCounts(upload, report);
		}
	}

	private static void lookAndGoOn(RandomUpload upload, @Nullable String location, Instance killed, Instance other,
			Random random) {
		boolean cancel = random.nextInt(5) == 0;
		if (location == null) {
			return;
		}
		Service service = killed.service();
		JsonNode report = ended(service, location);
		if (!report.get("state").asString().equals("interrupted") || report.has("instance")) {
			// It had ended, or was never whole here.
			assertThat(Answer.counts(report).applied()).isLessThanOrEqualTo(upload.ran(redis).cardinality());
			if (other.service().get(location).json().has("instance")) {
				// It was of the process that was killed.
				Answer items = service.get(location + "/items");
				if (items.status() == 200) {
					upload.assertItems(redis, report, service, location);
				}
				else if (items.status() != 410) {
					// 410: its upload was cut off by the kill.
					items.refusal(409, "held-elsewhere");
				}
			}
			return;
		}
		upload.assertItems(redis, report, service, location);
		if (cancel) {
			assertThat(service.delete(location).status()).isEqualTo(202);
			upload.assertItems(redis, ended(service, location), service, location);
			return;
		}
		Answer resumed = service.post(location + "/resume");
		if (upload.isRepeatable() || resumed.status() == 202) {
			assertThat(resumed.status()).as(resumed.text()).isEqualTo(202);
			JsonNode last = ended(service, location);
			assertThat(last.get("state").asString()).as(upload + last.toString()).isIn("completed", "failed");
			assertThat(Answer.counts(last).received()).as(upload + last.toString()).isEqualTo(upload.size());
			upload.assertItems(redis, last, service, location);
			BitSet all = new BitSet();
			all.set(0, upload.size());
			all.andNot(upload.bad());
			assertThat(upload.ran(redis)).as(upload.toString()).isEqualTo(all);
			assertThat(Answer.counts(ended(other.service(), location))).isEqualTo(Answer.counts(last));
		}
		else {
			resumed.refusal(409, "not-repeatable");
			// Anybody may post what certainly did not run.
			String rest = service.get(location + "/items?status=unprocessed").text();
			BitSet before = upload.ran(redis);
			Answer posted = other.service().post("/v1/jobs", Service.NDJSON, rest);
			long ran = Answer.counts(posted.report()).applied();
			assertThat(upload.ran(redis).cardinality()).as(upload.toString()).isEqualTo(before.cardinality() + ran);
		}
	}

	/** A job that ran to its end has counted each record as it is. */
	private static void assertCounts(RandomUpload upload, JsonNode report) {
		Counts counts = Answer.counts(report);
		assertThat(counts).as(upload.toString())
			.isEqualTo(new Counts(upload.size(), upload.ran(redis).cardinality(), 0, upload.bad().cardinality(), 0, 0));
	}

	private static JsonNode ended(Service service, String location) {
		await().untilAsserted(() -> {
			Answer look = service.get(location);
			assertThat(look.status()).as(look.text()).isEqualTo(200);
			assertThat(look.headers().firstValue("Retry-After")).as(look.text()).isEmpty();
		});
		return service.get(location).json();
	}

	/** A process that is started again and again with the same folder. */
	private static final class Instance {

		private final String name;

		private final FaultProxy control = FaultProxy.open(TestRedis.shared());

		private final Path spool;

		private @Nullable ServiceProcess process;

		private Instance(String name) {
			this.name = name;
			this.spool = spools.resolve(name);
		}

		private void start() throws Exception {
			Map<String, String> properties = new HashMap<>(TestRedis.shared().controlProperties());
			properties.put("pipeset.control.host", "127.0.0.1");
			properties.put("pipeset.control.port", Integer.toString(this.control.port()));
			properties.put("spring.data.redis.client-name", this.name);
			properties.put("spring.data.redis.host", "127.0.0.1");
			properties.put("spring.data.redis.port", Integer.toString(data.port()));
			properties.put("pipeset.spool.directory", this.spool.toString());
			properties.put("pipeset.jobs.lease", "1500ms");
			this.process = ServiceProcess.start(TestRedis.shared(),
					properties.entrySet()
						.stream()
						.map((property) -> "--" + property.getKey() + "=" + property.getValue())
						.toArray(String[]::new));
		}

		private ServiceProcess process() {
			ServiceProcess process = this.process;
			assertThat(process).isNotNull();
			return process;
		}

		private Service service() {
			return process().service();
		}

		private void heal() {
			data.heal();
			this.control.heal();
		}

		private void close() {
			if (this.process != null) {
				this.process.close();
			}
			this.control.close();
		}

	}

}
