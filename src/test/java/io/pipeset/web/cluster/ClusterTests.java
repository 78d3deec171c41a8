package io.pipeset.web.cluster;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Jobs run on all masters of a cluster. */
@ServiceTest(properties = "pipeset.security.scripts=true")
class ClusterTests {

	static final TestCluster cluster = TestCluster.shared();

	private static final String SWEEP = "/v1/jobs?from=scan&op=UNLINK";

	private static final int KEYS = 6000;

	private static final int STAYING = 3000;

	private final Service service;

	ClusterTests(Service service) {
		this.service = service;
	}

	@AfterEach
	void reset() {
		cluster.reset();
	}

	@Test
	void recordsGoToTheMastersOfTheirSlots() {
		JsonNode report = this.service.post("/pipeset/30000?concurrency=2").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(30_000, 30_000, 0, 0, 0, 0));
		long keys = cluster.nodes().map(TestRedis::client).mapToLong((redis) -> redis.dbsize()).sum();
		assertThat(keys).isEqualTo(30_000);
		assertThat(cluster.nodes().map(TestRedis::client)).allMatch((redis) -> redis.dbsize() > 5_000);
		assertThat(cluster.at("keyA12345").get("keyA12345")).isEqualTo("value-12345");
	}

	@Test
	void theEndpointShowsTheSlotsOfEachMaster() {
		this.service.post("/pipeset/100").report();
		JsonNode nodes = this.service.get("/actuator/pipeset").json().get("nodes");
		assertThat(nodes.propertyNames()).hasSameElementsAs(cluster.nodes().map(TestCluster::address).toList());
		assertThat(nodes.valueStream().map((node) -> node.get("slots").asInt())).containsExactlyInAnyOrder(5461, 5462,
				5461);
	}

	@Test
	void evictionsAreCountedByMaster() {
		cluster.nodes().forEach((master) -> {
			long used = Long.parseLong(master.client().info("memory").replaceAll("(?s).*used_memory:(\\d+).*", "$1"));
			master.client().configSet("maxmemory-policy", "allkeys-lru");
			master.client().configSet("maxmemory", Long.toString(used + (1 << 20)));
		});
		try {
			// A look of a second ago at most does for a job that begins, and there was no
			// limit then.
			await().pollInterval(Duration.ofMillis(300))
				.untilAsserted(() -> assertThat(this.service.post("/pipeset/60000")
					.report()
					.findValues("node")
					.stream()
					.map(JsonNode::asString)).hasSameElementsAs(cluster.nodes().map(TestCluster::address).toList()));
		}
		finally {
			cluster.nodes().forEach((master) -> {
				master.client().configSet("maxmemory", "0");
				master.client().configSet("maxmemory-policy", "noeviction");
			});
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "&dryRun=true" })
	void keysInSeveralSlotsAreRefusedUnsent(String dryRun) {
		this.service.ndjson("/v1/jobs", "[\"SET\",\"{a}1\",\"v\"]", "[\"SET\",\"{b}1\",\"v\"]").report();
		JsonNode report = this.service
			.ndjson("/v1/jobs?results=errors" + dryRun, "[\"DEL\",\"{a}1\",\"{b}1\"]",
					"[\"EVALSHA\",\"0123456789012345678901234567890123456789\",\"2\",\"{a}1\",\"{b}1\"]",
					"[\"DEL\",\"{a}2\",\"{a}3\"]")
			.report();
		assertThat(Answer.counts(report).rejected()).isEqualTo(2);
		for (int item = 0; item < 2; item++) {
			assertThat(report.at("/items/" + item + "/error/code").asString()).isEqualTo("CROSSSLOT");
			assertThat(report.at("/items/" + item + "/error/retryable").asBoolean()).isFalse();
		}
		assertThat(cluster.at("{a}1").exists("{a}1")).isEqualTo(1);
		assertThat(cluster.at("{b}1").exists("{b}1")).isEqualTo(1);
	}

	@Test
	void aScriptWithoutKeysRunsAloneAtAnyMaster() {
		String sha = this.service.post("/v1/scripts", "text/plain", "return 'ran'").json().at("/sha").asString();
		assertThat(cluster.nodes().map(TestRedis::client)).allMatch((redis) -> redis.scriptExists(sha).get(0));
		JsonNode report = this.service
			.upload("/v1/jobs?results=all", Service.NDJSON, Lines.of(300, (i) -> (i % 100 == 50)
					? "[\"EVALSHA\",\"" + sha + "\",\"0\"]" : "[\"RPUSH\",\"list" + i % 7 + "\",\"" + i + "\"]"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(300, 300, 0, 0, 0, 0));
		assertThat(report.at("/items").valueStream().filter((item) -> item.at("/op").asString().equals("EVALSHA")))
			.hasSize(3)
			.allMatch((item) -> item.at("/reply").asString().equals("ran"));
	}

	@ParameterizedTest
	@CsvSource({ "none, 10", "batch, 10", "batch, 3", "batch, 10000" })
	void neighboursOfManySlotsRunInTheOrderOfTheirKeys(String atomic, int batchSize) {
		JsonNode report = this.service
			.upload("/v1/jobs?concurrency=3&batchSize=" + batchSize + "&atomic=" + atomic, Service.NDJSON,
					Lines.of(3000, (i) -> "[\"RPUSH\",\"list" + i % 30 + "\",\"" + i / 30 + "\"]"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3000, 3000, 0, 0, 0, 0));
		List<String> expected = IntStream.range(0, 100).mapToObj(String::valueOf).toList();
		for (int list = 0; list < 30; list++) {
			assertThat(cluster.at("list" + list).lrange("list" + list, 0, -1)).isEqualTo(expected);
		}
	}

	@Test
	void neighboursOfOneKeyGoAsOneCommandAndOthersDoNot() {
		JsonNode pushed = this.service
			.upload("/v1/jobs", Service.NDJSON, Lines.of(1000, (i) -> "[\"RPUSH\",\"{a}\",\"" + i + "\"]"))
			.report();
		assertThat(Answer.counts(pushed)).isEqualTo(new Counts(1000, 1000, 0, 0, 0, 0));
		assertThat(pushed.at("/commandsSent").asInt()).isBetween(10, 100);
		JsonNode others = this.service
			.upload("/v1/jobs", Service.NDJSON,
					Lines.of(1000,
							(i) -> "[\"" + ((i < 500) ? "SET\",\"{a}" + i + "\",\"v" : "DEL\",\"{a}" + i) + "\"]"))
			.report();
		assertThat(Answer.counts(others)).isEqualTo(new Counts(1000, 1000, 0, 0, 0, 0));
		assertThat(others.at("/commandsSent").asInt()).isEqualTo(1000);
	}

	@Test
	void valuesArePoppedAtTheMasterOfTheirList() {
		this.service.post("/listinput/queue?count=500").report();
		JsonNode report = this.service.post("/piperpop/600?key=queue").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(600, 500, 100, 0, 0, 0));
		assertThat(report.at("/values").valueStream().map((value) -> value.asString()).toList())
			.isEqualTo(Service.generated(0, 500));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "&concurrency=3&batchSize=100", "&atomic=batch&batchSize=50", "&coalesce=off" })
	void aSweepRemovesTheKeysOfAllMasters(String settings) {
		fill();
		JsonNode report = this.service.post(SWEEP + "&match=keyA*" + settings).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(KEYS, KEYS, 0, 0, 0, 0));
		assertThat(report.at("/scan")).hasToString("{\"restarts\":0,\"repeatedSlots\":0}");
		assertThat(cluster.nodes().map(TestRedis::client).mapToLong((redis) -> redis.dbsize()).sum())
			.isEqualTo(STAYING);
	}

	@Test
	void aSweepTakesNoMoreKeysThanItsLimitAndOthersOfItsType() {
		fill();
		assertThat(Answer.counts(this.service.post(SWEEP + "&match=*&type=list&dryRun=true").report()))
			.isEqualTo(new Counts(STAYING, 0, 0, 0, 0, STAYING));
		assertThat(Answer.counts(this.service.post(SWEEP + "&match=keyA*&limit=1234&rateLimit=100000").report()))
			.isEqualTo(new Counts(1234, 1234, 0, 0, 0, 0));
		assertThat(cluster.nodes().map(TestRedis::client).mapToLong((redis) -> redis.dbsize()).sum())
			.isEqualTo(KEYS + STAYING - 1234);
	}

	/** Keys, and others that stay, so that Redis does not shrink its tables meanwhile. */
	private void fill() {
		this.service.post("/pipeset/" + KEYS).report();
		this.service.upload("/v1/jobs", Service.NDJSON, Lines.of(STAYING, (i) -> "[\"RPUSH\",\"list" + i + "\",\"v\"]"))
			.report();
	}

	@ParameterizedTest
	@ValueSource(strings = { "queue", "a{b}c", "{}", "{", "}a{" })
	void valuesThatArePoppedReliablyStayUntilTheyAreAcknowledged(String list) {
		String key = URLEncoder.encode(list, StandardCharsets.UTF_8);
		cluster.at(list).lpush(list, "a", "b", "c", "d");
		JsonNode report = this.service.post("/piperpop/2?reliable=true&key=" + key).report();
		assertThat(Answer.strings(report.get("values"))).containsExactly("a", "b");
		assertThat(report.at("/receipt/deadlineMillis").asLong()).isPositive();
		String id = report.get("jobId").asString();
		assertThat(this.service.post("/v1/jobs/" + id + "/ack").status()).isEqualTo(204);
		this.service.post("/v1/jobs/" + id + "/ack").refusal(410, "gone");
		id = this.service.post("/piperpop/5?reliable=true&key=" + key).report().get("jobId").asString();
		assertThat(cluster.at(list).exists(list)).isZero();
		assertThat(this.service.post("/v1/jobs/" + id + "/nack").status()).isEqualTo(204);
		assertThat(cluster.at(list).lrange(list, 0, -1)).containsExactly("d", "c");
		this.service.post("/v1/jobs/0199a6f2-0000-7000-8000-000000000000/ack").refusal(410, "gone");
	}

	@Test
	void actuatorNamesTheMasters() {
		JsonNode redis = this.service.get("/actuator/health").json().at("/components/redis");
		assertThat(redis.at("/status").asString()).isEqualTo("UP");
		JsonNode snapshot = this.service.get("/actuator/pipeset").json();
		assertThat(snapshot.at("/lanes/most").asInt()).isEqualTo(3 * 16);
		assertThat(cluster.nodes().map(TestCluster::address))
			.allMatch((address) -> snapshot.at("/nodes").get(address).at("/most").asInt() == 16);
	}

	@Test
	void batchesAreCountedForEachMaster() {
		double[] before = batches();
		this.service.post("/pipeset/3000").report();
		double[] after = batches();
		for (int master = 0; master < 3; master++) {
			assertThat(after[master]).isGreaterThan(before[master]);
		}
	}

	private double[] batches() {
		return cluster.nodes().mapToDouble((node) -> {
			Answer answer = this.service
				.get("/actuator/metrics/pipeset.node.batch?tag=node:" + TestCluster.address(node));
			return (answer.status() == 200) ? answer.json().at("/measurements/0/value").asDouble() : 0;
		}).toArray();
	}

}
