package io.pipeset.web.cluster;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.lettuce.core.ScriptOutputType;
import io.pipeset.OwnThread;
import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A slot moves step by step, and each step redirects records. They run once, in the order
 * of their key, at the master that has the slot.
 */
@ServiceTest(properties = "pipeset.security.scripts=true")
class ClusterRedirectTests {

	static final TestCluster cluster = TestCluster.shared();

	private final TestRedis from = cluster.master(0);

	private final TestRedis to = cluster.master(1);

	private final String tag = cluster.tag(0, 0);

	private final int slot = TestCluster.slot(this.tag);

	private final String here = "{" + this.tag + "}here";

	private final String moved = "{" + this.tag + "}moved";

	private final String missing = "{" + this.tag + "}missing";

	private final String other = "{" + cluster.tag(0, 1) + "}other";

	private final Service service;

	ClusterRedirectTests(Service service) {
		this.service = service;
	}

	/** The service knows the masters of now, so that each step comes as a surprise. */
	@BeforeEach
	void know() {
		this.service.ndjson("/v1/jobs", push(this.other, 0), push(this.here, 0), push(this.moved, 0)).report();
	}

	@AfterEach
	void reset() {
		cluster.reset();
		await().until(() -> {
			this.service.ndjson("/v1/jobs", push(this.here, 0)).report();
			return this.from.client().exists(this.here) == 1;
		});
		cluster.reset();
	}

	@ParameterizedTest
	@ValueSource(strings = { "concurrency=1", "concurrency=3", "flush=each", "batchSize=2", "coalesce=off", "retries=2",
			"results=all" })
	void recordsOfASlotThatHasMovedRunAtItsNewMaster(String settings) {
		double before = retries("moved");
		double redirections = redirections(this.from);
		double others = redirections(cluster.master(2));
		cluster.move(this.slot, this.to);
		Counts counts = pushes(settings, 100, this.here, this.other, this.missing);
		assertThat(retries("moved")).isGreaterThan(before);
		assertThat(redirections(this.from)).isGreaterThan(redirections);
		assertThat(redirections(cluster.master(2))).isEqualTo(others);
		assertThat(counts).isEqualTo(new Counts(300, 300, 0, 0, 0, 0));
		assertThat(this.to.client().lrange(this.here, 0, -1)).isEqualTo(numbers(0, 101));
		assertThat(this.to.client().lrange(this.missing, 0, -1)).isEqualTo(numbers(1, 101));
		assertThat(this.from.client().lrange(this.other, 0, -1)).isEqualTo(numbers(0, 101));
	}

	@ParameterizedTest
	@ValueSource(strings = { "concurrency=1", "concurrency=3", "flush=each", "batchSize=2", "coalesce=off", "retries=2",
			"results=all" })
	void recordsOfASlotOnItsWayRunWhereTheirKeyIs(String settings) {
		double before = retries("ask");
		cluster.begin(this.slot, this.from, this.to);
		cluster.migrate(this.from, this.to, this.moved);
		Counts counts = pushes(settings, 100, this.here, this.moved, this.other, this.missing);
		assertThat(retries("ask")).isGreaterThan(before);
		assertThat(counts).isEqualTo(new Counts(400, 400, 0, 0, 0, 0));
		assertThat(this.from.client().lrange(this.here, 0, -1)).isEqualTo(numbers(0, 101));
		assertThat(this.from.client().lrange(this.other, 0, -1)).isEqualTo(numbers(0, 101));
		cluster.migrate(this.from, this.to, this.here);
		cluster.end(this.slot, this.from, this.to);
		assertThat(this.to.client().lrange(this.here, 0, -1)).isEqualTo(numbers(0, 101));
		assertThat(this.to.client().lrange(this.moved, 0, -1)).isEqualTo(numbers(0, 101));
		assertThat(this.to.client().lrange(this.missing, 0, -1)).isEqualTo(numbers(1, 101));
	}

	@Test
	void aRecordWhoseKeysAreAtBothMastersWaitsUntilTheyAreAtOne() throws Exception {
		cluster.begin(this.slot, this.from, this.to);
		cluster.migrate(this.from, this.to, this.moved);
		CompletableFuture<Answer> job = this.service.sendAsync(this.service.uploading("/v1/jobs", Service.NDJSON,
				Lines.of(3, (i) -> (i == 1) ? "[\"DEL\",\"" + this.here + "\",\"" + this.moved + "\"]"
						: push((i == 0) ? this.missing : this.moved, i))));
		await().until(() -> retries("cluster-wait") > 0);
		assertThat(job).isNotDone();
		cluster.migrate(this.from, this.to, this.here);
		cluster.end(this.slot, this.from, this.to);
		assertThat(Answer.counts(job.get(1, TimeUnit.MINUTES).report())).isEqualTo(new Counts(3, 3, 0, 0, 0, 0));
		assertThat(this.to.client().exists(this.here)).isZero();
		assertThat(this.to.client().lrange(this.missing, 0, -1)).containsExactly("0");
		assertThat(this.to.client().lrange(this.moved, 0, -1)).containsExactly("2");
	}

	@ParameterizedTest
	@ValueSource(strings = { "concurrency=1", "concurrency=3", "flush=each", "coalesce=off", "results=all" })
	void theLaterRecordsOfARecordWithATransientErrorAreKeptBack(String settings) throws Exception {
		double before = retries("cluster-wait");
		cluster.begin(this.slot, this.from, this.to);
		cluster.migrate(this.from, this.to, this.moved);
		CompletableFuture<Answer> job = this.service.sendAsync(
				this.service.uploading("/v1/jobs?" + settings, Service.NDJSON, Lines.of(4, (i) -> switch ((int) i) {
					case 0 -> push(this.other, 1);
					case 1 -> "[\"DEL\",\"" + this.here + "\",\"" + this.moved + "\"]";
					default -> push((i == 2) ? this.here : this.moved, i);
				})));
		await().until(() -> retries("cluster-wait") > before);
		assertThat(job).isNotDone();
		cluster.migrate(this.from, this.to, this.here);
		cluster.end(this.slot, this.from, this.to);
		assertThat(Answer.counts(job.get(1, TimeUnit.MINUTES).report())).isEqualTo(new Counts(4, 4, 0, 0, 0, 0));
		assertThat(this.to.client().lrange(this.here, 0, -1)).containsExactly("2");
		assertThat(this.to.client().lrange(this.moved, 0, -1)).containsExactly("3");
	}

	@Test
	void aRecordWhoseKeysStayAtBothMastersIsRejectedAfterTheTimeoutAndTheOthersRun() {
		cluster.begin(this.slot, this.from, this.to);
		cluster.migrate(this.from, this.to, this.moved);
		JsonNode report = this.service
			.ndjson("/v1/jobs?timeout=2s", push(this.other, 1),
					"[\"DEL\",\"" + this.here + "\",\"" + this.moved + "\"]", push(this.other, 2))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 2, 0, 1, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("TRYAGAIN");
		assertThat(this.from.client().exists(this.here)).isEqualTo(1);
	}

	@Test
	void recordsOfASlotThatNobodyHasWaitForItsNextMaster() throws Exception {
		cluster.drop(this.slot);
		CompletableFuture<Answer> job = this.service.sendAsync(this.service.uploading("/v1/jobs", Service.NDJSON,
				Lines.of(1000, (i) -> push((i % 2 == 0) ? this.missing : this.other, i))));
		await().until(() -> retries("cluster-wait") > 0);
		assertThat(job).isNotDone();
		cluster.give(this.slot, this.to);
		assertThat(Answer.counts(job.get(1, TimeUnit.MINUTES).report())).isEqualTo(new Counts(1000, 1000, 0, 0, 0, 0));
		assertThat(this.to.client().lrange(this.missing, 0, -1).stream().map(Integer::valueOf).toList()).hasSize(500)
			.isSorted();
	}

	@Test
	void aClusterThatIsNotWholeStopsTheJobAfterItsTimeout() {
		cluster.drop(this.slot);
		Answer answer = this.service.ndjson("/v1/jobs?timeout=2s", push(this.here, 1), push(this.here, 2));
		JsonNode job = answer.job(503, "redis-refuses", "stopped");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(2, 0, 0, 1, 0, 1));
		assertThat(job.at("/items/0/error/code").asString()).isEqualTo("CLUSTERDOWN");
		assertThat(job.at("/items/0/error/retryable").asBoolean()).isTrue();
		assertThat(answer.json().at("/detail").asString()).contains("CLUSTER INFO");
	}

	@Test
	void aTransactionRunsWhereItsSlotIs() {
		cluster.move(this.slot, this.to);
		assertThat(pushes("atomic=batch", 20, this.here, this.other)).isEqualTo(new Counts(40, 40, 0, 0, 0, 0));
		assertThat(this.to.client().lrange(this.here, 0, -1)).isEqualTo(numbers(0, 21));
		assertThat(this.from.client().lrange(this.other, 0, -1)).isEqualTo(numbers(0, 21));
	}

	@Test
	void aTransactionOfKeysThatAreNotThereYetAsksTheOtherMaster() {
		cluster.begin(this.slot, this.from, this.to);
		assertThat(pushes("atomic=batch", 20, this.missing)).isEqualTo(new Counts(20, 20, 0, 0, 0, 0));
		cluster.migrate(this.from, this.to, this.here, this.moved);
		cluster.end(this.slot, this.from, this.to);
		assertThat(this.to.client().lrange(this.missing, 0, -1)).isEqualTo(numbers(1, 21));
	}

	@Test
	void aTransactionWhoseCommandsAreRedirectedInDifferentWaysWaitsUntilItsSlotHasMoved() throws Exception {
		cluster.begin(this.slot, this.from, this.to);
		cluster.migrate(this.from, this.to, this.moved);
		double before = retries("cluster-wait");
		CompletableFuture<Answer> job = this.service
			.sendAsync(this.service.uploading("/v1/jobs?atomic=batch", Service.NDJSON, Lines.of(3, (i) -> (i == 1)
					? "[\"DEL\",\"" + this.here + "\",\"" + this.moved + "\"]" : push(this.missing, i))));
		await().until(() -> job.isDone() || retries("cluster-wait") > before);
		assertThat(job).isNotDone();
		cluster.migrate(this.from, this.to, this.here);
		cluster.end(this.slot, this.from, this.to);
		assertThat(Answer.counts(job.get(1, TimeUnit.MINUTES).report())).isEqualTo(new Counts(3, 3, 0, 0, 0, 0));
		assertThat(this.to.client().exists(this.here, this.moved)).isZero();
		assertThat(this.to.client().lrange(this.missing, 0, -1)).containsExactly("0", "2");
	}

	@Test
	void theLaneGoesOnWhileSlotsMoveUnderIt() throws Exception {
		List<String> keys = IntStream.range(0, 30).mapToObj((i) -> "{" + cluster.tag(0, i) + "}k").toList();
		int records = 60_000;
		CompletableFuture<Void> moves = OwnThread.run(() -> {
			for (int round = 0; round < 2; round++) {
				TestRedis next = cluster.master(1 + round);
				keys.forEach((key) -> cluster.move(TestCluster.slot(key), next));
			}
		});
		CompletableFuture<Answer> job = this.service
			.sendAsync(this.service.uploading("/v1/jobs?concurrency=2&flush=buffered:100", Service.NDJSON,
					Lines.of(records, (i) -> push(keys.get((int) (i % 30)), i))));
		moves.get(1, TimeUnit.MINUTES);
		assertThat(Answer.counts(job.get(1, TimeUnit.MINUTES).report()))
			.isEqualTo(new Counts(records, records, 0, 0, 0, 0));
		for (int key = 0; key < 30; key++) {
			int first = key;
			assertThat(cluster.at(keys.get(key)).lrange(keys.get(key), 0, -1)).as("list %d", key)
				.isEqualTo(IntStream.range(0, records / 30).mapToObj((i) -> String.valueOf(first + 30 * i)).toList());
		}
	}

	@Test
	void aScriptThatMakesARedirectionUpIsNotSentAgain() {
		String sha = this.service
			.post("/v1/scripts", "text/plain",
					"redis.call('RPUSH', KEYS[1], ARGV[1]) return redis.error_reply(ARGV[2])")
			.json()
			.at("/sha")
			.asString();
		for (String forged : List.of("MOVED " + this.slot + " " + TestCluster.address(this.to),
				"ASK " + this.slot + " " + TestCluster.address(this.to), "MOVED " + this.slot + " 127.0.0.1:1",
				"MOVED 1 127.0.0.1:1", "MOVED", "ASK me", "TRYAGAIN Multiple keys request during rehashing of slot",
				"CLUSTERDOWN Hash slot not served")) {
			Answer answer = this.service.ndjson("/v1/jobs?timeout=30s",
					"[\"EVALSHA\",\"" + sha + "\",\"1\",\"" + this.missing + "\",\"x\",\"" + forged + "\"]");
			assertThat(Answer.counts(answer.report())).as(forged).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
			assertThat(this.from.client().lrange(this.missing, 0, -1)).as(forged).containsExactly("x");
			this.from.client().del(this.missing);
		}
	}

	@Test
	void aScriptFollowsItsKeys() {
		String sha = this.service.post("/v1/scripts", "text/plain", "return redis.call('RPUSH', KEYS[1], ARGV[1])")
			.json()
			.at("/sha")
			.asString();
		String run = "[\"EVALSHA\",\"" + sha + "\",\"1\",\"" + this.missing + "\",\"%s\"]";
		cluster.begin(this.slot, this.from, this.to);
		assertThat(Answer.counts(this.service.ndjson("/v1/jobs", run.formatted(1), run.formatted(2)).report()))
			.isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		cluster.migrate(this.from, this.to, this.here, this.moved);
		cluster.end(this.slot, this.from, this.to);
		assertThat(Answer.counts(this.service.ndjson("/v1/jobs", run.formatted(3), run.formatted(4)).report()))
			.isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(this.to.client().lrange(this.missing, 0, -1)).containsExactly("1", "2", "3", "4");
		assertThat(this.to.client().<String>eval("return 'there'", ScriptOutputType.VALUE)).isEqualTo("there");
	}

	private Counts pushes(String settings, int each, String... keys) {
		return Answer.counts(
				this.service
					.upload("/v1/jobs?" + settings, Service.NDJSON, Lines.of((long) each * keys.length,
							(i) -> push(keys[(int) (i % keys.length)], i / keys.length + 1)))
					.report());
	}

	private static String push(String key, long value) {
		return "[\"RPUSH\",\"" + key + "\",\"" + value + "\"]";
	}

	private static List<String> numbers(int from, int to) {
		return IntStream.range(from, to).mapToObj(String::valueOf).toList();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "&concurrency=3&batchSize=100" })
	void aSweepRemovesTheKeysOfASlotOnItsWay(String settings) {
		String[] keys = IntStream.range(0, 1000).mapToObj((i) -> "{" + this.tag + "}" + i).toArray(String[]::new);
		for (String key : keys) {
			this.from.client().set(key, "v");
		}
		cluster.begin(this.slot, this.from, this.to);
		cluster.migrate(this.from, this.to, Arrays.copyOf(keys, 500));
		JsonNode report = this.service.post("/v1/jobs?from=scan&type=string&match=*&op=UNLINK" + settings).report();
		Counts counts = Answer.counts(report);
		assertThat(counts.applied()).as("%s", report).isEqualTo(counts.received()).isGreaterThanOrEqualTo(1000);
		assertThat(report.at("/scan/repeatedSlots").asInt()).isPositive();
		assertThat(this.from.client().clusterGetKeysInSlot(this.slot, 2000)).containsExactlyInAnyOrder(this.here,
				this.moved);
		assertThat(this.to.client().clusterGetKeysInSlot(this.slot, 2000)).isEmpty();
	}

	private double redirections(TestRedis node) {
		return value("pipeset.node.redirections?tag=kind:moved&tag=node:" + TestCluster.address(node));
	}

	private double retries(String reason) {
		return value("pipeset.retries?tag=reason:" + reason);
	}

	private double value(String meter) {
		Answer answer = this.service.get("/actuator/metrics/" + meter);
		return (answer.status() == 200) ? answer.json().at("/measurements/0/value").asDouble() : 0;
	}

}
