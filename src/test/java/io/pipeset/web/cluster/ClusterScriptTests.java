package io.pipeset.web.cluster;

import java.util.List;

import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A record that is sent as a script hands over all that it has done, whatever its slot
 * does.
 */
@ServiceTest
class ClusterScriptTests {

	static final TestCluster cluster = TestCluster.shared();

	private final TestRedis from = cluster.master(0);

	private final TestRedis to = cluster.master(1);

	private final String key = "{" + cluster.tag(0, 0) + "}key";

	private final int slot = TestCluster.slot(this.key);

	private final Service service;

	ClusterScriptTests(Service service) {
		this.service = service;
	}

	@AfterEach
	void reset() {
		cluster.reset();
	}

	/** No script may use a key that it has emptied while its slot is on its way. */
	@ParameterizedTest
	@CsvSource({ "RPOP, ''", "LPOP, ''", "RPOP, atomic=batch", "RPOP, results=all", "RPOP, flush=each",
			"LPOP, retries=2" })
	void aCountedPopThatEmptiesItsListHandsItsValuesOver(String pop, String settings) {
		push();
		begin();
		JsonNode report = pop(pop, settings);
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(values(report))
			.containsExactlyElementsOf((pop.equals("LPOP")) ? List.of("a", "b", "c") : List.of("c", "b", "a"));
		assertThat(this.from.client().clusterCountKeysInSlot(this.slot)).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "RPOP", "LPOP" })
	void aCountedPopAtTheNextMasterHandsItsValuesOver(String pop) {
		push();
		begin();
		cluster.migrate(this.from, this.to, this.key);
		JsonNode report = pop(pop, "");
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(values(report)).hasSize(3);
		cluster.end(this.slot, this.from, this.to);
		assertThat(this.to.client().exists(this.key)).isZero();
	}

	@Test
	void aCountedPopOfTheWholeListLeavesTheOthersOfItsKeyNothing() {
		push();
		begin();
		JsonNode report = this.service
			.ndjson("/v1/jobs?results=all", record("RPOP", 40), record("LPOP", 40),
					"[\"RPUSH\",\"%s\",\"d\"]".formatted(this.key), record("RPOP", 40))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(4, 3, 1, 0, 0, 0));
		assertThat(report.at("/items/3/reply/0").asString()).isEqualTo("d");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aHashIsWrittenAndExpiresOrNeither(boolean there) {
		if (there) {
			this.from.client().hset(this.key, "old", "v");
		}
		begin();
		JsonNode report = this.service.ndjson("/v1/jobs?ttl=90", "[\"HSET\",\"%s\",\"f\",\"v\"]".formatted(this.key))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		if (there) {
			cluster.migrate(this.from, this.to, this.key);
		}
		cluster.end(this.slot, this.from, this.to);
		assertThat(this.to.client().hget(this.key, "f")).isEqualTo("v");
		assertThat(this.to.client().ttl(this.key)).isBetween(1L, 90L);
	}

	private void push() {
		this.from.client().rpush(this.key, "a", "b", "c");
	}

	/** From now on the slot is on its way. */
	private void begin() {
		cluster.begin(this.slot, this.from, this.to);
	}

	private JsonNode pop(String pop, String settings) {
		return this.service.ndjson("/v1/jobs?" + settings, record(pop, 40)).report();
	}

	private String record(String pop, int count) {
		return "[\"%s\",\"%s\",%d]".formatted(pop, this.key, count);
	}

	private static List<String> values(JsonNode report) {
		return report.at("/items/0/reply").valueStream().map(JsonNode::asString).toList();
	}

}
