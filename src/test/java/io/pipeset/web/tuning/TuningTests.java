package io.pipeset.web.tuning;

import java.util.List;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** A tuning measures every row of its grid, recommends one of them and leaves nothing. */
@ServiceTest
class TuningTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	TuningTests(Service service) {
		this.service = service;
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
		assertThat(baselines).extracting((baseline) -> baseline.get("batchSize").asInt())
			.containsExactly(1, 900, 10_000);
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
		tune("records=1000&batchSizes=1000&flushes=close&concurrencies=2&runs=1");
		String statistics = this.redis.info("commandstats");
		assertThat(statistics).doesNotContain("cmdstat_mset").contains("cmdstat_multi");
		// Unmeasured, measured, in transactions, each by itself, and some one by one; and
		// leases that services renew.
		assertThat(statistics).containsPattern("cmdstat_set:calls=(4[0-9]|50)[0-9]{2},");
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
	void beginsNoRunAfterItsBudgetAndSaysThatRunsAreMissing() {
		JsonNode tuning = tune("records=100000&batchSizes=1,2,3,4,5,6,7,8,9&flushes=each,close&runs=10&budget=1s");
		assertThat(tuning.get("rows").valueStream().map((row) -> row.get("runs").asInt())).contains(0);
		assertThat(tuning.at("/because").asString()).containsAnyOf("no row was measured",
				"not all runs took place: repeat the tuning with a larger budget");
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void breaksOffARunThatTakesLongerThanTheBudget() {
		this.redis.configResetstat();
		JsonNode tuning = tune("records=1000000&batchSizes=1&flushes=close&concurrencies=1&runs=1&budget=1s");
		assertThat(tuning.at("/rows/0/runs").asInt()).isZero();
		assertThat(tuning.at("/because").asString()).isEqualTo("no row was measured");
		assertThat(this.redis.dbsize()).isZero();
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
