package io.pipeset.web.tuning;

import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** A tuning measures all masters of a cluster at once, and leaves no key at any. */
@ServiceTest(properties = "pipeset.security.scripts=true")
class ClusterTuningTests {

	static final TestCluster cluster = TestCluster.shared();

	private static final String SMALL = "records=1000&batchSizes=500,1000&flushes=close&concurrencies=1&runs=1";

	private final Service service;

	ClusterTuningTests(Service service) {
		this.service = service;
	}

	@AfterEach
	void reset() {
		cluster.nodes().forEach((node) -> node.client().configSet("maxmemory", "0"));
		cluster.reset();
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET", "HSET", "LPUSH" })
	void allMastersAreMeasuredAndEmptiedOfItsKeys(String operation) {
		cluster.at("mine").set("mine", "1");
		masters().forEach((redis) -> redis.client().configResetstat());
		JsonNode tuning = this.service.post("/v1/tunings?op=" + operation + "&" + SMALL).json();
		assertThat(tuning.at("/state").asString()).as(tuning.toString()).isEqualTo("completed");
		assertThat(masters().flatMap((redis) -> redis.client().keys("*").stream())).containsExactly("mine");
		assertThat(masters()).allMatch((redis) -> redis.client()
			.info("commandstats")
			.contains("cmdstat_" + operation.toLowerCase(Locale.ROOT) + ":calls="));
		assertThat(tuning.at("/roundTripMicros").asLong()).isPositive();
		assertThat(tuning.get("rows")).hasSize(2).allSatisfy((row) -> {
			assertThat(row.at("/runs").asInt()).isOne();
			assertThat(row.has("redisCpuSeconds")).isTrue();
		});
		List<JsonNode> baselines = tuning.get("baselines").valueStream().toList();
		assertThat(baselines.get(0).at("/recordsPerSecond").asLong()).isPositive();
		assertThat(baselines.get(1).at("/recordsPerSecond").asLong()).isPositive();
		assertThat(baselines.get(2).at("/recordsPerSecond").asLong()).isPositive();
		assertThat(tuning.has("keysLeft")).isFalse();
	}

	@Test
	void aMasterWithoutRoomForItsShareIsNamed() {
		TestRedis full = cluster.master(1);
		full.client().configSet("maxmemory", "10mb");
		JsonNode problem = this.service.post("/v1/tunings?" + SMALL + "&valueBytes=100000")
			.problem(503, "redis-refuses");
		assertThat(problem.at("/detail").asString()).contains(TestCluster.address(full)).contains("maxmemory");
		assertThat(masters()).allMatch((redis) -> redis.client().dbsize() == 0);
	}

	@Test
	void slotsThatHaveMovedAreMeasuredAndEmptiedAtTheirNewMaster() {
		this.service.ndjson("/v1/jobs", "[\"SET\",\"mine\",\"1\"]").report();
		// Among a thousand keys there are some of these slots.
		cluster.move(1000, 1300, cluster.master(2));
		JsonNode tuning = this.service.post("/v1/tunings?" + SMALL).json();
		assertThat(tuning.at("/state").asString()).as(tuning.toString()).isEqualTo("completed");
		assertThat(tuning.has("keysLeft")).isFalse();
		assertThat(masters().flatMap((redis) -> redis.client().keys("*").stream())).containsExactly("mine");
	}

	@Test
	void slotsThatAreOnTheirWayAreMeasuredAndEmptiedAtBothMasters() {
		cluster.begin(IntStream.range(0, 300).map((i) -> TestCluster.slot(cluster.tag(0, i))), cluster.master(0),
				cluster.master(2));
		JsonNode tuning = this.service.post("/v1/tunings?" + SMALL).json();
		assertThat(tuning.at("/state").asString()).as(tuning.toString()).isEqualTo("completed");
		assertThat(tuning.at("/baselines/0/runs").asInt()).isOne();
		assertThat(tuning.has("keysLeft")).isFalse();
		assertThat(masters().allMatch((redis) -> redis.client().dbsize() == 0)).isTrue();
	}

	private static Stream<TestRedis> masters() {
		return cluster.nodes();
	}

}
