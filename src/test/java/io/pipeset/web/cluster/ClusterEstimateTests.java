package io.pipeset.web.cluster;

import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** An estimate measures each key at the master of its slot. */
@ServiceTest
class ClusterEstimateTests {

	static final TestCluster cluster = TestCluster.shared();

	private static final String QUERY = "/v1/jobs?dryRun=true&estimate=true";

	private final Service service;

	ClusterEstimateTests(Service service) {
		this.service = service;
	}

	@AfterEach
	void noKeyIsLeft() {
		assertThat(masters().flatMap((master) -> master.keys("pipeset:estimate:*").stream())).isEmpty();
		masters().forEach((master) -> master.configSet("maxmemory", "0"));
		cluster.reset();
	}

	private static Stream<RedisCommands<String, String>> masters() {
		return IntStream.range(0, 3).mapToObj(cluster::master).map(TestRedis::client);
	}

	@Test
	void keysOfAllMastersAreMeasured() {
		masters().forEach((master) -> master.configSet("maxmemory", "100mb"));
		JsonNode estimate = estimate("[\"SET\",\"k:%1$d\",\"a value\"]");
		assertThat(estimate.at("/types/string/keys").asLong()).isBetween(1600L, 2400L);
		assertThat(estimate.get("bytes").asLong()).isBetween(2000L * 50, 2000L * 150);
		assertThat(estimate.get("maxBytes").asLong()).isEqualTo(3L * (100 << 20));
		assertThat(estimate.get("fits").asBoolean()).isTrue();
	}

	@Test
	void keysOfOneRecordStayInOneSlot() {
		JsonNode estimate = estimate("[\"MSET\",\"{t%1$d}a\",\"1\",\"{t%1$d}b\",\"2\"]");
		assertThat(estimate.at("/types/string/keys").asLong()).isBetween(3200L, 4800L);
	}

	private JsonNode estimate(String record) {
		String body = IntStream.range(0, 2000)
			.mapToObj((i) -> String.format(Locale.ROOT, record, i))
			.collect(Collectors.joining("\n"));
		return this.service.post(QUERY, "application/x-ndjson", body).report().get("estimate");
	}

}
