package io.pipeset.web.job;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Kills the process of the service at a random place of a random job, once or several
 * times, has the next process go on, and holds the account against the data: it has to be
 * that of the same records one by one, each of which counts once. In between, what the
 * journal calls certain has to be so. {@code -Dcampaign.kills=N} runs N seeds,
 * {@code -Dcampaign.seed=7} repeats one.
 */
@EnabledIfSystemProperty(named = "campaign.seeds", matches = ".+")
@ProcessTest
class ResumeCampaignTests {

	private static final int SEEDS = 20;

	private static final int KEYS = 50;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	@TempDir
	Path spool;

	private final List<ServiceProcess> processes = new ArrayList<>();

	static LongStream seeds() {
		Long one = Long.getLong("campaign.seed");
		return (one != null) ? LongStream.of(one) : LongStream.range(0, Integer.getInteger("campaign.kills", SEEDS));
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@AfterEach
	void end() {
		this.processes.forEach(ServiceProcess::close);
	}

	@ParameterizedTest
	@MethodSource("seeds")
	void aJobWhoseProcessIsKilledRunsAllOfItsRecords(long seed) throws Exception {
		Random random = new Random(seed);
		List<List<String>> records = IntStream.range(0, 2_000 + random.nextInt(20_000))
			.mapToObj((i) -> record(random, i))
			.toList();
		String call = "/v1/jobs?concurrency=" + (1 + random.nextInt(4)) + "&batchSize=" + pick(random, 1, 50, 3000)
				+ "&flush=" + pick(random, "close", "each", "buffered:20") + "&coalesce=" + pick(random, "auto", "off")
				+ "&atomic=" + pick(random, "none", "none", "batch");
		try (FaultProxy proxy = FaultProxy.open(TestRedis.shared())) {
			ServiceProcess process = start(proxy);
			String location = null;
			for (int kills = 1 + random.nextInt(3); kills > 0; kills--) {
				CompletableFuture<ProxyLink> place = proxy.stopAt(pick(random, Way.COMMANDS, Way.REPLIES),
						30 + random.nextInt(600), random.nextInt(40));
				if (location == null) {
					location = post(process.service(), call, records);
				}
				else {
					assertThat(process.service().post(location + "/resume").status()).isEqualTo(202);
				}
				try {
					place.get(5, TimeUnit.SECONDS);
				}
				catch (TimeoutException ex) {
					// The rest of the job is shorter than that.
				}
				process.kill();
				if (random.nextBoolean() || !place.isDone()) {
					// Commands that are still on their way.
					proxy.heal();
				}
				// Of all connections, only the one that has reached the place is stopped.
				process = start(proxy);
				Answer known = process.service().get(location);
				if (known.json().at("/state").asString().equals("completed")) {
					// It had ended ahead of the kill.
					check(records);
					return;
				}
				assertThat(known.json().at("/state").asString()).isEqualTo("interrupted");
				if (kills > 1) {
					process.kill();
					proxy.heal();
					process = start(proxy);
				}
			}
			assertThat(process.service().post(location + "/resume").status()).isEqualTo(202);
			Service service = process.service();
			String job = location;
			await().until(() -> service.get(job).headers().firstValue("Retry-After").isEmpty());
			proxy.heal();
			JsonNode report = service.get(job).json();
			int count = records.size();
			assertThat(Answer.counts(report)).as(report.toString()).isEqualTo(new Counts(count, count, 0, 0, 0, 0));
			assertThat(report.at("/state").asString()).isEqualTo("completed");
			check(records);
		}
	}

	/** Redis holds what the records leave one by one. */
	private void check(List<List<String>> records) {
		Map<String, String> found = data();
		this.redis.flushall();
		records.forEach((record) -> TestRedis.shared().send(record.toArray(String[]::new)));
		assertThat(found).isEqualTo(data());
	}

	private Map<String, String> data() {
		Map<String, String> data = new TreeMap<>();
		for (String key : this.redis.keys("*")) {
			data.put(key, switch (key.charAt(0)) {
				case 'h' -> new TreeMap<>(this.redis.hgetall(key)).toString();
				case 's' -> new TreeSet<>(this.redis.smembers(key)).toString();
				case 'z' -> this.redis.zrangeWithScores(key, 0, -1).toString();
				default -> this.redis.get(key);
			});
		}
		return data;
	}

	private static List<String> record(Random random, int index) {
		String key = String.valueOf(random.nextInt(KEYS));
		String member = "m" + random.nextInt(5);
		return switch (random.nextInt(9)) {
			case 0 -> List.of("DEL", pick(random, "k", "h", "s", "z") + key);
			case 1 -> List.of("HSET", "h" + key, member, "v" + index);
			case 2 -> List.of("HDEL", "h" + key, member);
			case 3 -> List.of("SADD", "s" + key, member);
			case 4 -> List.of("SREM", "s" + key, member);
			case 5 -> List.of("ZADD", "z" + key, String.valueOf(index), member);
			case 6 -> List.of("DEL", "k" + key, "h" + key);
			default -> List.of("SET", "k" + key, "v" + index);
		};
	}

	@SafeVarargs
	private static <T> T pick(Random random, T... values) {
		return values[random.nextInt(values.length)];
	}

	private static String post(Service service, String call, List<List<String>> records) {
		String body = records.stream()
			.map((record) -> record.stream().collect(Collectors.joining("\",\"", "[\"", "\"]\n")))
			.collect(Collectors.joining());
		HttpRequest.Builder request = service.request(call).header("Prefer", "respond-async");
		Answer answer = service
			.send(request.header("Content-Type", Service.NDJSON).POST(BodyPublishers.ofString(body)));
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return answer.header("Location");
	}

	private ServiceProcess start(FaultProxy proxy) throws Exception {
		ServiceProcess process = ServiceProcess.start(TestRedis.shared(), "--pipeset.spool.directory=" + this.spool,
				"--spring.data.redis.host=127.0.0.1", "--spring.data.redis.port=" + proxy.port());
		this.processes.add(process);
		return process;
	}

}
