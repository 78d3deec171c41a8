package io.pipeset.web.tuning;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.job.Client;
import io.pipeset.job.EndedJob;
import io.pipeset.job.JobLimits;
import io.pipeset.job.input.Caller;
import io.pipeset.job.run.Jobs;
import io.pipeset.job.run.Tasks;
import io.pipeset.job.settings.JobDefaults;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Ending;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.tuning.TuningProperties;
import io.pipeset.tuning.TuningSettings;
import io.pipeset.tuning.Tunings;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;

/** A tuning measures every row of its grid, recommends one of them and leaves nothing. */
@ServiceTest
class TuningTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	private final Client client;

	private final Tasks tasks;

	private final Jobs jobs;

	private final RedisNodes nodes;

	private final JobDefaults defaults;

	private final TuningProperties properties;

	private final JobLimits limits;

	TuningTests(Service service, @Autowired Tasks tasks, @Autowired Jobs jobs, @Autowired RedisNodes nodes,
			@Autowired JobDefaults defaults, @Autowired TuningProperties properties, @Autowired JobLimits limits,
			@Autowired Client client) {
		this.client = client;
		this.service = service;
		this.tasks = tasks;
		this.jobs = jobs;
		this.nodes = nodes;
		this.defaults = defaults;
		this.properties = properties;
		this.limits = limits;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET", "HSET", "LPUSH" })
	void measuresTheGridAndTheWaysWithoutAPipeline(String operation) {
		this.redis.set("mine", "1");
		JsonNode tuning = tune("op=" + operation
				+ "&records=1500&batchSizes=100,1000&flushes=buffered:100&concurrencies=1&runs=2&valueBytes=20");
		assertThat(this.redis.keys("*")).containsExactly("mine");
		assertThat(tuning.at("/state").asString()).isEqualTo("completed");
		assertThat(tuning.at("/tuningId").asString()).isNotBlank();
		assertThat(tuning.at("/settings/op").asString()).isEqualTo(operation);
		assertThat(tuning.at("/roundTripMicros").asLong()).isPositive();
		assertThat(tuning.get("rows")).hasSize(2);
		for (JsonNode row : tuning.get("rows")) {
			assertThat(row.at("/flush").asString()).isEqualTo("buffered:100");
			assertThat(row.at("/concurrency").asInt()).isEqualTo(1);
			assertThat(row.at("/runs").asInt()).isEqualTo(2);
			assertThat(row.at("/writes").asInt()).isEqualTo(15);
			assertThat(row.at("/seconds/min").asDouble()).isPositive()
				.isLessThanOrEqualTo(row.at("/seconds/median").asDouble());
			assertThat(row.at("/seconds/max").asDouble()).isGreaterThanOrEqualTo(row.at("/seconds/median").asDouble());
			assertThat(row.at("/recordsPerSecond").asLong()).isPositive();
			assertThat(row.at("/batchP99Millis").asDouble()).isPositive();
			assertThat(row.has("redisCpuSeconds")).isTrue();
		}
		assertThat(tuning.get("rows").valueStream().map((row) -> row.get("batchSize").asInt())).containsExactly(100,
				1_000);
		List<JsonNode> baselines = tuning.get("baselines").valueStream().toList();
		assertThat(baselines).extracting((baseline) -> baseline.get("how").asString())
			.containsExactly("one by one", "MULTI/EXEC", "pipeline, flush each");
		assertThat(baselines).allMatch((baseline) -> baseline.get("recordsPerSecond").asLong() > 0);
		assertThat(baselines.get(0).path("extrapolatedFrom").asLong(1)).isBetween(1L, 1_499L);
		assertThat(baselines.get(1).has("extrapolatedFrom")).isFalse();
		assertThat(tuning.at("/recommended/batchSize").asInt()).isIn(100, 1_000);
		assertThat(tuning.at("/recommended/flush").asString()).isEqualTo("buffered:100");
		assertThat(tuning.at("/because").asString()).isNotBlank();
		assertThat(tuning.has("keysLeft")).isFalse();
	}

	@Test
	void sendsACommandForEachRecordWhateverNeighboursAllow() {
		this.redis.configResetstat();
		// However busy the machine is, no time passes.
		tune(() -> 0,
				Map.of("records", "1000", "batchSizes", "1000", "flushes", "close", "concurrencies", "2", "runs", "1"));
		String statistics = this.redis.info("commandstats");
		assertThat(statistics).doesNotContain("cmdstat_mset").contains("cmdstat_multi");
		// Unmeasured, measured, one by one, in transactions, each by itself; and leases
		// that services renew.
		assertThat(statistics).containsPattern("cmdstat_set:calls=50[0-9]{2},");
	}

	@Test
	void countsAsOneJobWhoseRunsAreNobodysJobs() {
		double before = commands();
		tune("records=1000&batchSizes=1000&flushes=close&concurrencies=1&runs=1");
		assertThat(commands()).isEqualTo(before);
		assertThat(this.service.get("/actuator/metrics/pipeset.job?tag=op:tuning&tag=state:completed")
			.json()
			.at("/measurements/0/value")
			.asDouble()).isPositive();
		assertThat(this.service.get("/actuator/pipeset").json().at("/memory/usedBytes").asLong()).isZero();
	}

	@Test
	void beginsNoRunAfterItsBudgetAndSaysWhichRowsItLeftOut() {
		// A look for each run, one before it, and one before all.
		JsonNode tuning = tuneSlowly(Map.of("records", "1000", "batchSizes", "100,200,300,400,500,600", "flushes",
				"close", "concurrencies", "1", "runs", "2", "budget", "20s"));
		assertThat(tuning.get("rows").valueStream().map((row) -> row.get("runs").asInt())).containsExactly(1, 1, 1, 1,
				0, 0);
		assertThat(tuning.at("/rows/5").has("seconds")).isFalse();
		assertThat(tuning.get("baselines").valueStream().map((baseline) -> baseline.get("runs").asInt()))
			.containsExactly(0, 0, 0);
		assertThat(tuning.at("/because").asString()).contains("only 4 of 6 rows ran");
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void breaksOffARunThatTakesLongerThanTheBudget() {
		this.redis.configResetstat();
		JsonNode tuning = tuneSlowly(Map.of("records", "4000", "batchSizes", "1000", "flushes", "close",
				"concurrencies", "1", "runs", "2", "budget", "1s"));
		assertThat(tuning.at("/rows/0/runs").asInt()).isZero();
		assertThat(tuning.at("/because").asString()).isEqualTo("no row was measured");
		assertThat(this.redis.info("commandstats")).contains("cmdstat_set:calls=1000,");
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void removesManyKeysInFewRoundTrips() {
		// The removal of 20,000 keys may take ten looks at the clock.
		JsonNode tuning = tuneSlowly(Map.of("records", "20000", "batchSizes", "20000", "flushes", "close",
				"concurrencies", "1", "runs", "1", "budget", "10m"));
		assertThat(tuning.at("/rows/0/runs").asInt()).isOne();
		assertThat(tuning.has("keysLeft")).isFalse();
		assertThat(this.redis.dbsize()).isZero();
	}

	/** Runs a tuning that completes. Each look at its clock takes a second. */
	private JsonNode tuneSlowly(Map<String, String> query) {
		AtomicLong seconds = new AtomicLong();
		return tune(() -> Duration.ofSeconds(seconds.incrementAndGet()).toNanos(), query);
	}

	/** Runs a tuning that completes, by a clock of its own. */
	private JsonNode tune(LongSupplier clock, Map<String, String> query) {
		Tunings tunings = new Tunings(this.tasks, this.jobs, this.nodes, this.defaults, clock);
		EndedJob<?> ended = tunings.run(this.client,
				TuningSettings.read(query::get, this.properties, this.limits, this.defaults), Caller.SERVICE);
		ended.memory().close();
		assertThat(ended.ending()).isEqualTo(Ending.COMPLETED);
		return JsonMapper.shared().valueToTree(ended.report());
	}

	private double commands() {
		return this.service.get("/actuator/metrics/pipeset.commands").json().at("/measurements/0/value").asDouble();
	}

	private JsonNode tune(String query) {
		Answer answer = this.service.post("/v1/tunings?" + query);
		assertThat(answer.status()).as(answer.text()).isEqualTo(200);
		assertThat(answer.header("Content-Type")).isEqualTo("application/json");
		return answer.json();
	}

}
