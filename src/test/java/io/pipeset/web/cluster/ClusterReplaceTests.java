package io.pipeset.web.cluster;

import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** A load replaces the keys of a pattern on all masters of a cluster. */
@ServiceTest(properties = "pipeset.security.scripts=true")
class ClusterReplaceTests {

	static final TestCluster cluster = TestCluster.shared();

	private final Service service;

	ClusterReplaceTests(Service service) {
		this.service = service;
	}

	@AfterEach
	void reset() {
		cluster.reset();
	}

	/** Half of the keys are at the master that imports their slot already. */
	@Test
	void theKeysOfASlotThatMigratesAreReplaced() {
		TestRedis from = cluster.master(0);
		TestRedis to = cluster.master(1);
		int slot = TestCluster.slot(cluster.tag(0, 0));
		String[] keys = IntStream.range(0, 200)
			.mapToObj((i) -> "{" + cluster.tag(0, 0) + "}:" + i)
			.toArray(String[]::new);
		Stream.of(keys).forEach((key) -> from.client().set(key, "v"));
		cluster.begin(slot, from, to);
		cluster.migrate(from, to, Arrays.copyOf(keys, 100));
		JsonNode report = this.service
			.ndjson("/v1/jobs?replace=*", "[\"SET\",\"" + keys[7] + "\",\"w\"]",
					"[\"SET\",\"" + keys[107] + "\",\"w\"]")
			.report();
		assertThat(report.at("/replaced").toString()).isEqualTo("{\"kept\":2,\"removed\":198}");
		assertThat(report.at("/counts/applied").asInt()).isEqualTo(2);
		assertThat(to.client().keys("*")).containsExactly(keys[7]);
		assertThat(from.client().keys("*")).containsExactly(keys[107]);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "&concurrency=2&batchSize=100", "&dryRun=true" })
	void theKeysOfAllMastersAreReplaced(String settings) {
		this.service.post("/pipeset/6000").report();
		JsonNode report = this.service
			.ndjson("/v1/jobs?replace=keyA*" + settings, "[\"SET\",\"keyA00007\",\"v\"]",
					"[\"SET\",\"keyA00008\",\"v\"]", "[\"SET\",\"keyA00009\",\"v\"]", "[\"SET\",\"a\",\"v\"]")
			.report();
		assertThat(report.at("/replaced").toString()).isEqualTo("{\"kept\":3,\"removed\":5997}");
		boolean dryRun = settings.contains("dry");
		assertThat(Answer.counts(report))
			.isEqualTo((dryRun) ? new Counts(4, 0, 0, 0, 0, 4) : new Counts(4, 4, 0, 0, 0, 0));
		assertThat(cluster.nodes().map(TestRedis::client).mapToLong((redis) -> redis.dbsize()).sum())
			.isEqualTo((dryRun) ? 6000 : 4);
	}

}
