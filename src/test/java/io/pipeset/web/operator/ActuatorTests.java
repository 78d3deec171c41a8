package io.pipeset.web.operator;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.record.Operation;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Actuator shows operators the state of the service, and none of its callers' data. */
@ServiceTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ActuatorTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ActuatorTests(Service service) {
		this.service = service;
	}

	@BeforeAll
	void runSomeJobs() {
		this.redis.flushall();
		this.service.post("/pipeset/10?flush=each").report();
		this.service.post("/pipehset/10?flush=close").report();
		this.service.post("/listinput/secretKey?count=10").report();
		this.service.post("/piperpop/20?key=secretKey").report();
		this.service
			.ndjson("/v1/jobs", "[\"SET\",\"secretKey\",\"secretValue\"]", "[\"LPUSH\",\"secretKey\",\"secretValue\"]",
					"[\"SECRETOP\",\"secretKey\"]", "{\"id\":\"secretId\",\"op\":\"DEL\",\"key\":\"secretKey\"}",
					"secretKey")
			.report();
	}

	@ParameterizedTest
	@CsvSource({ "pipeset.job, op client, state", "pipeset.job.active, op client, state", "pipeset.batch, flush,",
			"pipeset.node.batch, node,", "pipeset.node.connections, node,", "pipeset.node.losses, node,",
			"pipeset.phase, phase,", "pipeset.records, op client, outcome", "pipeset.commands, client,",
			"pipeset.batch.size,,", "pipeset.batch.bytes,,", "pipeset.inflight.bytes,,", "pipeset.lanes.busy,,",
			"pipeset.jobs.queued,," })
	void everyMeterIsThereWithItsTagsAndNoOthers(String meter, String first, String second) {
		Answer answer = this.service.get("/actuator/metrics/" + meter);
		assertThat(answer.status()).as(meter).isEqualTo(200);
		Set<String> tags = new TreeSet<>();
		answer.json().get("availableTags").forEach((tag) -> tags.add(tag.get("tag").asString()));
		Set<String> expected = new TreeSet<>();
		for (String tag : new String[] { first, second }) {
			if (tag != null) {
				expected.addAll(List.of(tag.split(" ")));
			}
		}
		assertThat(tags).isEqualTo(expected);
	}

	@Test
	void theTagsOfTheMetersAreBounded() {
		assertThat(tagValues("pipeset.job", "op")).contains("SET", "HSET", "LPUSH", "RPOP", "mixed");
		assertThat(tagValues("pipeset.job", "state")).contains("completed")
			.isSubsetOf("completed", "stopped", "failed", "cancelled");
		assertThat(tagValues("pipeset.batch", "flush")).containsExactlyInAnyOrder("each", "close", "buffered");
		assertThat(tagValues("pipeset.phase", "phase")).containsExactlyInAnyOrder("wait", "read", "redis");
		assertThat(tagValues("pipeset.records", "op")).isSubsetOf(
				Stream.concat(Operation.values().stream().map(Operation::toString), Stream.of("none")).toList());
		assertThat(tagValues("pipeset.records", "client")).containsExactly("none");
		assertThat(tagValues("pipeset.records", "outcome")).contains("applied", "noop", "rejected")
			.isSubsetOf("applied", "noop", "rejected", "unknown", "unprocessed");
	}

	@Test
	void commandsAreCountedByOperationAndOutcome() {
		double applied = commands("op:SET", "outcome:applied");
		double rejected = commands("op:LPUSH", "outcome:rejected");
		double noop = commands("op:RPOP", "outcome:noop");
		double unnamed = commands("op:none", "outcome:rejected");
		runSomeJobs();
		assertThat(commands("op:SET", "outcome:applied")).isEqualTo(applied + 11);
		assertThat(commands("op:LPUSH", "outcome:rejected")).isEqualTo(rejected + 1);
		assertThat(commands("op:RPOP", "outcome:noop")).isEqualTo(noop + 10);
		assertThat(commands("op:none", "outcome:rejected")).isEqualTo(unnamed + 2);
	}

	@Test
	void batchesAreMeteredByWhatWasSent() {
		double records = value("pipeset.batch.size", "TOTAL");
		double bytes = value("pipeset.batch.bytes", "TOTAL");
		JsonNode report = this.service.post("/pipeset/1000").report();
		assertThat(value("pipeset.batch.size", "TOTAL")).isEqualTo(records + 1000);
		assertThat(value("pipeset.batch.bytes", "TOTAL")).isEqualTo(bytes + report.get("bytesSent").asLong());
	}

	@Test
	void requestsAreCountedByTheirCall() {
		this.service.post("/pipeset/many").refusal(400, "invalid-count");
		this.service.post("/listinput/secret%4bey?count=1").report();
		String requests = "http.server.requests";
		assertThat(tagValues(requests, "uri")).contains("/pipeset/{count}", "/listinput/{key}", "/v1/jobs")
			.noneMatch((uri) -> uri.contains("secret") || uri.contains("many"));
		String call = requests + "?tag=method:POST&tag=uri:/pipeset/{count}".replace("{", "%7B").replace("}", "%7D");
		assertThat(tagValues(call, "status")).contains("200", "400");
		assertThat(tagValues(call, "outcome")).contains("SUCCESS", "CLIENT_ERROR");
		assertThat(tagValues(call, "exception")).contains("none");
	}

	@Test
	void noKeyValueOrIdIsInAnyMeter() {
		String metrics = prometheus();
		assertThat(metrics).contains("pipeset_records").doesNotContainIgnoringCase("secret");
	}

	@Test
	void prometheusScrapesTheSameMeters() {
		assertThat(prometheus()).contains("pipeset_job_seconds_count{")
			.contains("pipeset_job_active_seconds")
			.contains("pipeset_batch_seconds_bucket{flush=\"each\",le=\"0.001\"}")
			.contains("pipeset_batch_seconds_bucket{flush=\"each\",le=\"5.0\"}")
			.contains("pipeset_phase_seconds_count{phase=\"redis\"}")
			.contains("pipeset_records_total{client=\"none\",op=\"SET\",outcome=\"applied\"}")
			.contains("pipeset_batch_size_records_sum")
			.contains("pipeset_batch_bytes_sum")
			.contains("pipeset_inflight_bytes ")
			.contains("pipeset_lanes_busy ")
			.contains("pipeset_jobs_queued ");
	}

	@Test
	void theEndpointShowsTheServiceAtRest() {
		await().untilAsserted(() -> {
			JsonNode snapshot = this.service.get("/actuator/pipeset").json();
			assertThat(snapshot.at("/jobsRunning").asInt(-1)).isZero();
			assertThat(snapshot.at("/jobsWaiting").asInt(-1)).isZero();
			assertThat(snapshot.at("/lanes/busy").asInt(-1)).isZero();
			assertThat(snapshot.at("/lanes/most").asInt(-1)).isEqualTo(16);
			JsonNode node = snapshot.at("/nodes").get(TestRedis.shared().host() + ":" + TestRedis.shared().port());
			assertThat(node).isEqualTo(snapshot.at("/lanes"));
			assertThat(node.has("slots")).as("slots, which only a cluster has").isFalse();
			assertThat(snapshot.at("/redis").asString()).isEqualTo(TestRedis.shared().identity().name());
			assertThat(snapshot.at("/inFlightBytes").asLong(-1)).isZero();
			assertThat(snapshot.at("/limits"))
				.hasToString("{\"jobsRunning\":64,\"jobsWaiting\":64,\"inFlightBytes\":33554432}");
			assertThat(snapshot.at("/spool/budgetBytes").asLong())
				.isEqualTo((long) value("pipeset.spool.budget", "VALUE"));
			assertThat(snapshot.at("/spool/usedBytes").asLong()).isEqualTo((long) value("pipeset.spool.used", "VALUE"));
		});
	}

	@Test
	void theEndpointShowsAJobUnderWay() throws IOException {
		double active = value("pipeset.job.active", "ACTIVE_TASKS");
		try (Wire wire = Wire.upload(this.service, "/v1/jobs?op=SET")) {
			wire.chunk("{\"key\":\"a\",\"value\":\"1\"}\n");
			await().untilAsserted(() -> assertThat(this.redis.get("a")).isEqualTo("1"));
			assertThat(this.service.get("/actuator/pipeset").json().at("/jobsRunning").asInt()).isOne();
			assertThat(value("pipeset.job.active", "ACTIVE_TASKS")).isEqualTo(active + 1);
			wire.lastChunk().answer().report();
		}
		await().untilAsserted(() -> assertThat(value("pipeset.job.active", "ACTIVE_TASKS")).isEqualTo(active));
	}

	@ParameterizedTest
	@CsvSource({ "/actuator/health", "/actuator/health/liveness", "/actuator/health/readiness" })
	void healthIsUp(String path) {
		Answer answer = this.service.get(path);
		assertThat(answer.status()).isEqualTo(200);
		assertThat(answer.json().at("/status").asString()).isEqualTo("UP");
	}

	@Test
	void readinessDependsOnRedisAndLivenessDoesNot() {
		assertThat(this.service.get("/actuator/health/readiness").json().at("/components").propertyNames())
			.contains("redis", "readinessState");
		assertThat(this.service.get("/actuator/health/liveness").json().at("/components").propertyNames())
			.containsExactly("livenessState");
	}

	@Test
	void nothingElseIsExposed() {
		assertThat(this.service.get("/actuator").json().at("/_links").propertyNames()).containsExactlyInAnyOrder("self",
				"health", "health-path", "info", "metrics", "metrics-requiredMetricName", "prometheus", "pipeset");
	}

	private String prometheus() {
		Answer answer = this.service.get("/actuator/prometheus");
		assertThat(answer.status()).isEqualTo(200);
		return answer.text();
	}

	private double commands(String... tags) {
		Answer answer = this.service.get("/actuator/metrics/pipeset.records?tag=" + String.join("&tag=", tags));
		return (answer.status() == 404) ? 0 : measurement(answer, "COUNT");
	}

	private double value(String meter, String statistic) {
		return measurement(this.service.get("/actuator/metrics/" + meter), statistic);
	}

	private static double measurement(Answer answer, String statistic) {
		return answer.json()
			.get("measurements")
			.valueStream()
			.filter((measurement) -> measurement.get("statistic").asString().equals(statistic))
			.findFirst()
			.orElseThrow()
			.get("value")
			.asDouble();
	}

	private List<String> tagValues(String meter, String tag) {
		return this.service.get("/actuator/metrics/" + meter)
			.json()
			.get("availableTags")
			.valueStream()
			.filter((candidate) -> candidate.get("tag").asString().equals(tag))
			.flatMap((candidate) -> candidate.get("values").valueStream())
			.map(JsonNode::asString)
			.toList();
	}

}
