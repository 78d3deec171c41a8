package io.pipeset.web.failover;

import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.KeyValue;
import io.pipeset.OwnThread;
import io.pipeset.PipesetApplication;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.redis.Sentinels;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Behind Sentinels nothing is written to a master that has lost its office, and reports
 * say that there was a failover.
 */
@ServiceTest(properties = { "pipeset.limits.max-items=1000000", "pipeset.limits.body-idle-timeout=10m" })
class SentinelTests {

	@RegisterExtension
	static final Sentinels sentinels = Sentinels.start();

	private static final int RECORDS = 100_000;

	private final Service service;

	private final RedisNodes nodes;

	SentinelTests(Service service, @Autowired RedisNodes nodes) {
		this.service = service;
		this.nodes = nodes;
	}

	@DynamicPropertySource
	static void sentinels(DynamicPropertyRegistry registry) {
		sentinels.properties().forEach((name, value) -> registry.add(name, () -> value));
	}

	@Test
	void afterAFailoverNothingGoesToTheOldMasterAndNothingIsCalledAppliedThatReplicasDoNotHave() throws Exception {
		TestRedis former = sentinels.master();
		this.service.post("/pipeset/10").report();
		assertThat(this.nodes.name()).isEqualTo(former.host() + ":" + former.port());
		try (Wire paused = Wire.upload(this.service, "/v1/jobs")) {
			paused.chunk("[\"RPUSH\",\"list\",\"1\"]\n[\"SET\",\"a\",1]\n");
			await().until(() -> sentinels.replica().client().exists("a") == 1);
			CompletableFuture<Void> changed = new CompletableFuture<>();
			CompletableFuture<Answer> load = load(changed);
			await().until(() -> applied() > 20_000);
			TestRedis master = sentinels.failOver();
			await().until(() -> this.nodes.name().equals(master.host() + ":" + master.port()));
			changed.complete(null);
			paused.chunk("[\"RPUSH\",\"list\",\"2\"]\n").lastChunk();
			JsonNode report = paused.answer().report();
			assertThat(master).isNotSameAs(former);
			assertThat(master.client().lrange("list", 0, -1)).as("the list at the new master")
				.containsExactly("1", "2");
			assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 3, 0, 0, 0, 0));
			assertThat(report.at("/failovers").asInt()).isOne();
			assertThat(report.at("/appliedByFormerMasters").asInt()).isEqualTo(2);
			assertThat(this.nodes.name()).isEqualTo(master.host() + ":" + master.port());
			// The load waits for a replica, which the old master may now become.
			sentinels.awaitReady();
			checkLoad(load.get(2, TimeUnit.MINUTES), master);
		}
		assertThat(this.service.post("/pipeset/10").report().has("failovers")).isFalse();
	}

	@Test
	void aMasterThatRefusesAWholeBatchEndsAJobThatHasNoRetries() {
		TestRedis master = sentinels.master();
		this.service.post("/pipeset/1").report();
		master.client().replicaof("127.0.0.1", 1);
		try {
			JsonNode job = this.service.post("/pipeset/100?batchSize=10&coalesce=off")
				.job(503, "redis-refuses", "stopped");
			Counts counts = Answer.counts(job);
			assertThat(counts.applied()).isZero();
			assertThat(counts.unprocessed()).isPositive();
			assertThat(job.at("/items/0/error/code").asString()).isEqualTo("READONLY");
		}
		finally {
			master.client().replicaofNoOne();
			sentinels.awaitReady();
		}
	}

	/**
	 * A replica refuses WAIT, before the job begins as well. Sentinel may name another.
	 */
	@Test
	void aJobWithRetriesWaitsForAMasterThatConfirmsItsRecords() throws Exception {
		TestRedis master = sentinels.master();
		this.service.post("/pipeset/1").report();
		double refused = refusedByReplica();
		master.client().replicaof("127.0.0.1", 1);
		CompletableFuture<Answer> job;
		try {
			job = OwnThread.supply(() -> this.service
				.post("/pipeset/100?replicas=1&replicasTimeout=60s&retries=5&timeout=60s&coalesce=off"));
			await().until(() -> job.isDone() || refusedByReplica() > refused);
		}
		finally {
			master.client().replicaofNoOne();
			sentinels.awaitReady();
		}
		Counts counts = Answer.counts(job.get(2, TimeUnit.MINUTES).report());
		assertThat(counts.applied() + counts.unknown()).isEqualTo(100);
	}

	/** The new master may lack the new keys, so the old ones must not go as well. */
	@Test
	void aFailoverWhileReplaceRemovesKeysEndsTheRemoval() throws Exception {
		TestRedis former = sentinels.master();
		former.client()
			.mset(IntStream.range(0, 20_000).boxed().collect(Collectors.toMap((i) -> "old:" + i, (i) -> "v")));
		CompletableFuture<Answer> load = this.service
			.sendAsync(this.service.uploading("/v1/jobs?replace=old:*&rateLimit=200&retries=10&timeout=60s",
					Service.NDJSON, Lines.of(1, (i) -> "[\"SET\",\"old:new\",\"v\"]")));
		String id = this.service.awaitJob("running");
		await().until(() -> this.service.get("/v1/jobs/" + id).json().at("/replaced/removed").asInt() > 0);
		TestRedis master = sentinels.failOver();
		Answer answer = load.get(2, TimeUnit.MINUTES);
		sentinels.awaitReady();
		JsonNode job = answer.job(502, "redis-lost", "failed");
		assertThat(answer.json().at("/detail").asString()).contains("another server became master, while keys");
		assertThat(job.at("/failovers").asInt()).isOne();
		assertThat(master.client().keys("old:*")).hasSizeGreaterThan(1);
	}

	private double refusedByReplica() {
		Answer answer = this.service.get("/actuator/metrics/pipeset.retries?tag=reason:readonly");
		return (answer.status() == 200) ? answer.json().at("/measurements/0/value").asDouble() : 0;
	}

	@Test
	void sentinelsThatRefuseTheServiceNameTheirOwnPassword() {
		Map<String, Object> properties = new HashMap<>(sentinels.properties());
		properties.put("spring.data.redis.sentinel.password", "wrong");
		try (ConfigurableApplicationContext other = new SpringApplicationBuilder(PipesetApplication.class)
			.web(WebApplicationType.NONE)
			.properties(properties)
			.run()) {
			assertThatExceptionOfType(NoConnectionException.class).isThrownBy(other.getBean(RedisNodes.class)::masters)
				.withMessageContainingAll("WRONGPASS", "spring.data.redis.sentinel.password")
				.satisfies((ex) -> assertThat(ex.isRefusal()).as("whether Redis itself refused it").isFalse());
		}
	}

	@ParameterizedTest
	@CsvSource({ "both, wrong, WRONGPASS", "'', '', NOAUTH" })
	void aMasterThatRefusesTheServiceNamesThePasswordOfTheData(String user, String password, String code) {
		Map<String, String> data = new HashMap<>(sentinels.properties());
		data.put("spring.data.redis.username", user);
		data.put("spring.data.redis.password", password);
		data.values().removeIf(String::isEmpty);
		try (Replica replica = Replica.start(TestRedis.shared(), data)) {
			Answer answer = replica.service().post("/pipeset/10");
			answer.job(503, "redis-refuses", "stopped");
			assertThat(answer.json().get("detail").asString())
				.contains(code, "spring.data.redis.password", "spring.data.redis.username")
				.doesNotContain("Check that it runs", "spring.data.redis.sentinel.password");
		}
	}

	/**
	 * The records of running jobs that the replica has confirmed, where they ask for it.
	 */
	private long applied() {
		return this.service.get("/v1/jobs?state=running")
			.json()
			.get("jobs")
			.valueStream()
			.mapToLong((job) -> job.at("/counts/applied").asLong())
			.sum();
	}

	/** Begins a load, of which the last quarter waits for a change. */
	private CompletableFuture<Answer> load(CompletableFuture<Void> change) {
		return this.service.sendAsync(this.service.uploading(
				"/v1/jobs?replicas=1&replicasTimeout=200ms&retries=10&batchSize=1000&rateLimit=50000", Service.NDJSON,
				Lines.of(RECORDS, (i) -> {
					if (i == RECORDS * 3L / 4) {
						change.join();
					}
					return "[\"SET\",\"keyA%05d\",\"v\"]".formatted(i);
				})));
	}

	private static void checkLoad(Answer answer, TestRedis master) {
		JsonNode job = (answer.status() == 200) ? answer.report() : answer.job(502, "redis-lost", "failed");
		assertThat(job.at("/failovers").asInt()).isOne();
		assertThat(job.at("/appliedByFormerMasters").asInt(-1)).isZero();
		assertThat(job.get("itemsOmitted").asInt()).isZero();
		BitSet notApplied = new BitSet();
		job.get("items").forEach((item) -> notApplied.set(item.get("index").asInt()));
		assertThat(notApplied.cardinality() + Answer.counts(job).applied()).isEqualTo(RECORDS);
		BitSet missing = new BitSet();
		for (int from = 0; from < RECORDS; from += 1000) {
			List<KeyValue<String, String>> values = master.client()
				.mget(IntStream.range(from, from + 1000).mapToObj("keyA%05d"::formatted).toArray(String[]::new));
			for (int i = 0; i < values.size(); i++) {
				missing.set(from + i, !values.get(i).hasValue());
			}
		}
		missing.andNot(notApplied);
		assertThat(missing.cardinality()).as("records called applied that are not there").isZero();
		assertThat(Answer.counts(job).applied()).isGreaterThan(10_000);
	}

}
