package io.pipeset.web.job;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.lettuce.core.Range;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.LossyWay;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * {@code docs/clients/spark_load.py} loads from a local Spark whose tasks are lost and
 * repeated. Spark starts no speculative twins locally, so that two tasks with the same
 * rows and the same key stand for them. One process of Spark runs all loads.
 */
@ServiceTest(properties = { ServiceTest.KEY + "=" + ClientProgramTests.KEY,
		"pipeset.clients.loader.key-sha256=" + ClientProgramTests.KEY_HASH, "pipeset.limits.max-async-jobs=2" })
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SparkClientTests {

	private static final int REFUSED = 500;

	/** In the middle of a partition. */
	private static final int LOST_AFTER = 250_000;

	private static final RedisCommands<String, String> redis = TestRedis.shared().client();

	private final Service service;

	private final Map<String, JsonNode> outcomes = new LinkedHashMap<>();

	private final Map<String, List<String>> waits = new LinkedHashMap<>();

	private String errors = "";

	SparkClientTests(Service service) {
		this.service = service;
	}

	@BeforeAll
	void loadAll(@TempDir Path folder) throws Exception {
		assumeTrue(ClientProgramTests.isThere("python3", "-c", "import pyspark"), "pyspark is not there");
		redis.flushall();
		redis.set("refused:" + REFUSED, "no hash");
		Path output = folder.resolve("output.txt");
		Path log = folder.resolve("errors.txt");
		LossyWay way = new LossyWay(this.service, LOST_AFTER);
		ProcessBuilder builder = new ProcessBuilder("python3",
				Path.of("src", "test", "resources", "spark", "scenarios.py").toAbsolutePath().toString(),
				this.service.uri("").toString(), way.url(), folder.toString())
			.directory(folder.toFile())
			.redirectOutput(output.toFile())
			.redirectError(log.toFile());
		builder.environment()
			.putAll(Map.of("PIPESET_KEY", ClientProgramTests.KEY, "JAVA_HOME", System.getProperty("java.home"),
					"PYTHONPATH", Path.of("docs", "clients").toAbsolutePath().toString(), "PYSPARK_PYTHON", "python3",
					// A zone that is neither that of the session nor UTC.
					"TZ", "Asia/Tokyo"));
		Process process = builder.start();
		try {
			assertThat(process.waitFor(10, TimeUnit.MINUTES)).isTrue();
		}
		finally {
			process.descendants().forEach(ProcessHandle::destroy);
			process.destroy();
			way.close();
		}
		assertThat(way.hasLostBoth()).isTrue();
		this.errors = Files.readString(log);
		assertThat(process.exitValue()).as(this.errors).isZero();
		for (String line : Files.readAllLines(output)) {
			JsonNode outcome = JsonMapper.shared().readTree(line);
			String name = outcome.get("name").asString();
			if (outcome.has("trouble")) {
				this.waits.computeIfAbsent(name, (any) -> new ArrayList<>()).add(outcome.get("trouble").asString());
			}
			else {
				this.outcomes.put(name, outcome);
			}
		}
	}

	@AfterAll
	void removeAll() {
		redis.flushall();
	}

	@Test
	void eachRowIsARecord() {
		assertThat(counts("set")).isEqualTo(applied(8000));
		assertThat(counts("hset")).isEqualTo(applied(8000));
		assertThat(redis.keys("set:*")).hasSize(8000);
		assertThat(redis.keys("hash:*")).hasSize(8000);
		for (int id = 0; id < 8000; id++) {
			String name = "User " + id + " é";
			assertThat(redis.get("set:" + id)).isEqualTo(name);
			assertThat(redis.hgetall("hash:" + id)).isEqualTo(Map.of("id", Integer.toString(id), "name", name));
		}
	}

	@Test
	void aPartitionWithoutRowsIsNoJob() {
		assertThat(counts("empty")).isEqualTo(applied(1));
		assertThat(redis.get("one:17")).isEqualTo("User 17 é");
		assertThat(this.service.get("/v1/jobs?limit=1000").json().get("jobs").valueStream().map(Answer::counts))
			.isNotEmpty()
			.allMatch((counts) -> counts.received() > 0);
	}

	@Test
	void valuesAreThoseOfJson() {
		assertThat(counts("types")).isEqualTo(applied(1));
		assertThat(redis.get("types:a"))
			.isEqualTo("{\"id\":\"a\",\"nested\":{\"b\":true,\"n\":9007199254740993,\"none\":null},\"list\":[1,2,null],"
					+ "\"map\":{\"a\":2.0,\"z\":1.5},\"numbered\":{\"2\":\"x\"},\"day\":\"2026-02-03\","
					+ "\"moment\":\"2026-02-03T09:05:06.789000+00:00\",\"wall\":\"2026-02-03T04:05:06\","
					+ "\"decimal\":12345678901234567890.123456789,\"zero\":0.000000000,\"bytes\":\"AP8Q\","
					+ "\"large\":1e+300}");
		assertThat(counts("binary")).isEqualTo(applied(1));
		assertThat(redis.get("binary:1")).isEqualTo("A\0é");
		assertThat(redis.pexpiretime("binary:1")).isEqualTo(Instant.parse("2100-01-01T05:00:00Z").toEpochMilli());
	}

	@Test
	void whatIsNotJsonIsRefused() {
		assertThat(error("nan")).contains("list[].x is nan, and JSON has no such number");
		assertThat(error("interval")).isEqualTo("age is of the type interval day: cast it to one that JSON has");
		assertThat(redis.keys("nan:*")).isEmpty();
	}

	@Test
	void rejectedRecordsAreAnErrorUnlessTheyAreAskedFor() {
		Counts counts = new Counts(1000, 999, 0, 1, 0, 0);
		assertThat(error("raise")).contains("\"rejected\": 1", "refused:" + REFUSED, "WRONGTYPE");
		assertThat(counts("raise")).isEqualTo(counts);
		assertThat(counts("return")).isEqualTo(counts);
		assertThat(redis.keys("refused:*")).hasSize(1000);
		assertThat(redis.get("refused:" + REFUSED)).isEqualTo("no hash");
	}

	@Test
	void whatCannotGoWellIsRefusedAndNoKeyIsShown() {
		assertThat(error("wrongKey")).contains("401: No client has the key");
		assertThat(error("replace")).contains("all other partitions");
		assertThat(redis.keys("wrong:*")).isEmpty();
		assertThat(this.errors).isNotEmpty().doesNotContain("not-the-key", ClientProgramTests.KEY);
		assertThat(this.outcomes.toString()).doesNotContain("not-the-key", ClientProgramTests.KEY);
	}

	/** Each first attempt is lost: with its report, or in the middle of its upload. */
	@ParameterizedTest
	@ValueSource(strings = { "retried", "broken" })
	void recordsOfTasksThatAreRepeatedRunOnce(String fault) {
		for (String operation : List.of("XADD", "RPUSH", "SET")) {
			assertThat(counts(fault + " " + operation)).isEqualTo(applied(16_000));
		}
		for (int part = 0; part < 4; part++) {
			List<String> ids = ids(part * 4000, 4000);
			assertThat(stream(fault + ":XADD:" + part)).isEqualTo(ids);
			assertThat(redis.lrange(fault + ":RPUSH:" + part, 0, -1)).isEqualTo(ids);
		}
		assertThat(redis.keys(fault + ":SET:*")).hasSize(16_000);
	}

	@Test
	void recordsRunOnceThoughAnUploadAndAnAnswerAreLost() {
		assertThat(counts("lossy")).isEqualTo(applied(40_000));
		for (int part = 0; part < 4; part++) {
			assertThat(stream("lossy:" + part)).isEqualTo(ids(part * 10_000, 10_000));
		}
	}

	@Test
	void rowsInAnotherOrderAreRefusedAndTheErrorSaysWhatToDo() {
		assertThat(error("turned")).contains("422: ", "sortWithinPartitions");
		assertThat(stream("turned:0")).isEqualTo(ids(0, 400));
	}

	/** Two of four tasks have the places of asynchronous jobs until the others wait. */
	@Test
	void tasksWaitForAPlaceWithoutTheLossOfARow() {
		assertThat(this.waits.get("busy wait")).isNotEmpty()
			.allSatisfy((trouble) -> assertThat(trouble).contains("429: "));
		assertThat(counts("busy")).isEqualTo(applied(16_000));
		for (int part = 0; part < 4; part++) {
			assertThat(stream("busy:" + part)).isEqualTo(ids(part * 4000, 4000));
		}
	}

	/** One of them uploads until the other was told to wait. */
	@Test
	void twinsHaveTheReportOfOneJob() {
		assertThat(this.waits.get("twins wait")).isNotEmpty()
			.allSatisfy((trouble) -> assertThat(trouble).contains("409: "));
		assertThat(counts("twins")).isEqualTo(applied(8000));
		assertThat(stream("twins:User")).isEqualTo(ids(0, 4000));
	}

	private Counts counts(String name) {
		JsonNode outcome = Objects.requireNonNull(this.outcomes.get(name), name);
		assertThat(outcome.path("counts").isObject()).as("%s", outcome).isTrue();
		return Answer.counts(outcome);
	}

	private String error(String name) {
		return Objects.requireNonNull(this.outcomes.get(name), name).path("error").asString("");
	}

	private static Counts applied(int records) {
		return new Counts(records, records, 0, 0, 0, 0);
	}

	private static List<String> stream(String key) {
		return redis.xrange(key, Range.unbounded()).stream().map((message) -> message.getBody().get("id")).toList();
	}

	private static List<String> ids(int from, int count) {
		return IntStream.range(from, from + count).mapToObj(Integer::toString).toList();
	}

}
