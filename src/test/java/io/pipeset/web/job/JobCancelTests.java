package io.pipeset.web.job;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A job can be cancelled in each of its phases. It writes nothing more, tells its caller
 * the outcome of every record, and leaves the service idle.
 */
@ServiceTest(properties = { "pipeset.limits.max-running-jobs=1", "spring.data.redis.timeout=10m",
		"pipeset.defaults.timeout=10m", "pipeset.control.timeout=1s" })
class JobCancelTests {

	private static final int KEYS = 300_000;

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	JobCancelTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.service.connect();
		redis.client().flushall();
	}

	@Test
	void whileItWaitsForItsTurn() throws Exception {
		Wire first = this.service.begin("first");
		await().until(() -> redis.client().dbsize() == 1);
		CompletableFuture<Answer> generated = start("/pipeset/1000");
		String id = this.service.awaitJob("queued");
		JsonNode status = this.service.delete("/v1/jobs/" + id).json();
		assertThat(status.get("jobId").asString()).isEqualTo(id);
		JsonNode job = cancelled(generated, id);
		assertThat(Answer.counts(job)).isEqualTo(new Counts(1000, 0, 0, 0, 0, 1000));
		assertThat(job.at("/timings/waitMillis").asDouble()).isPositive();
		assertThat(this.service.get("/actuator/pipeset").json().at("/jobsWaiting").asInt(-1)).isZero();
		CompletableFuture<Answer> analysis = start("/v1/analyses");
		JsonNode found = cancelledTask(analysis, this.service.awaitJob("queued"), "analysis");
		assertThat(found.at("/keys").asLong(-1)).isZero();
		CompletableFuture<Answer> next = start("/pipeset/7");
		this.service.awaitJob("queued");
		first.lastChunk().answer().report();
		next.get(1, TimeUnit.MINUTES).report();
		assertThat(redis.client().dbsize()).isEqualTo(8);
	}

	@Test
	void anUploadThatWaitsIsNotRead() throws Exception {
		this.service.begin("first");
		await().until(() -> redis.client().dbsize() == 1);
		CompletableFuture<Answer> upload = this.service.sendAsync(this.service.uploading("/v1/jobs", Service.NDJSON,
				Lines.of(10, (i) -> "[\"SET\",\"k" + i + "\",\"v\"]")));
		String id = this.service.awaitJob("queued");
		this.service.delete("/v1/jobs/" + id);
		JsonNode job = cancelled(upload, id);
		assertThat(Answer.counts(job)).isEqualTo(new Counts(0, 0, 0, 0, 0, 0));
		assertThat(job.get("nextIndex").asInt(-1)).isZero();
		assertThat(redis.client().dbsize()).isOne();
	}

	@Test
	void whileItWaitsForMoreOfItsBody() throws Exception {
		Wire wire = this.service.begin("first");
		await().until(() -> redis.client().dbsize() == 1);
		String id = this.service.awaitJob("running");
		cancel(id);
		Answer answer = wire.answer();
		JsonNode job = answer.job(409, "cancelled", "cancelled");
		assertThat(answer.header("Location")).isEqualTo("/v1/jobs/" + id);
		assertThat(Answer.counts(job)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(job.get("inputComplete").asBoolean()).isFalse();
		hasEnded(id);
	}

	@Test
	void whileABatchIsOnItsWayWhichKeepsItsRealOutcomes() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 0, 0);
		CompletableFuture<Answer> answer = start("/listinput/queue?count=5000&batchSize=1000&coalesce=off");
		ProxyLink link = place.get(1, TimeUnit.MINUTES);
		String id = this.service.awaitJob("running");
		cancel(id);
		assertThat(answer).isNotDone();
		assertThat(this.service.get("/v1/jobs/" + id).json().get("state").asString()).isEqualTo("running");
		link.goOn();
		Counts counts = Answer.counts(cancelled(answer, id));
		assertThat(counts.applied()).isEqualTo(redis.client().llen("queue")).isBetween(1L, 1000L);
		assertThat(counts.unprocessed()).isEqualTo(5000 - counts.applied());
	}

	@Test
	void whileReplicasAreWaitedForWhichTakesNoLongerThanFiveSeconds() throws Exception {
		CompletableFuture<Answer> answer = start("/pipeset/3?replicas=1&replicasTimeout=1h");
		await().until(() -> redis.client().clientList().contains("cmd=wait"));
		String id = this.service.awaitJob("running");
		cancel(id);
		JsonNode job = answer.get(1, TimeUnit.MINUTES).job(502, "redis-lost", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(3, 0, 0, 0, 3, 0));
		assertThat(job.at("/items/0/error/message").asString()).contains("until the job was stopped");
	}

	/** Redis stands still, and is given ten minutes for each answer. */
	@Test
	void whileAFenceIsWaitedForWhichTakesNoLongerThanFiveSecondsAndKeepsTheNextJobOut() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 0, 0);
		CompletableFuture<Answer> answer = start("/listinput/queue?count=1000&batchSize=1000&coalesce=off");
		ProxyLink link = place.get(1, TimeUnit.MINUTES);
		CompletableFuture<Answer> next;
		redis.pause();
		try {
			link.reset();
			cancel(this.service.awaitJob("running"));
			JsonNode job = answer.get(1, TimeUnit.MINUTES).job(502, "redis-lost", "failed");
			assertThat(job.get("fenced").asBoolean(true)).isFalse();
			Counts counts = Answer.counts(job);
			assertThat(counts.unknown()).isPositive();
			assertThat(counts.unknown() + counts.unprocessed()).isEqualTo(1000);
			next = start("/listinput/next?count=1");
			this.service.awaitJob("running");
		}
		finally {
			redis.resume();
		}
		assertThat(next.get(1, TimeUnit.MINUTES).report().at("/counts/applied").asInt()).isOne();
	}

	@Test
	void whileItPausesBeforeARetry() throws Exception {
		redis.kill();
		try {
			// Until the connections are known to be gone, records may go into one.
			await().until(() -> proxy.links() == 0);
			await().until(() -> this.service.post("/pipeset/1").text().contains("redis-unreachable"));
			double before = retries();
			CompletableFuture<Answer> answer = start("/pipeset/1000?retries=3");
			await().until(() -> retries() > before);
			String id = this.service.awaitJob("running");
			cancel(id);
			assertThat(Answer.counts(cancelled(answer, id))).isEqualTo(new Counts(1000, 0, 0, 0, 0, 1000));
		}
		finally {
			redis.restart();
		}
	}

	private double retries() {
		Answer meter = this.service.get("/actuator/metrics/pipeset.retries");
		return (meter.status() == 200) ? meter.json().at("/measurements/0/value").asDouble() : 0;
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "&dryRun=true" })
	void whileASweepWaitsForItsKeys(String dryRun) throws Exception {
		// More than a lane may have unanswered: the job stops reading whichever
		// connection stands.
		this.service.post("/pipeset/" + KEYS).report();
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 10, 0);
		CompletableFuture<Answer> answer = start("/v1/jobs?from=scan&match=*&op=UNLINK" + dryRun);
		place.get(1, TimeUnit.MINUTES);
		String id = this.service.awaitJob("running");
		cancel(id);
		if (dryRun.isEmpty()) {
			// A batch may be held up as well, whose outcome is waited for.
			proxy.heal();
		}
		Counts counts = Answer.counts(cancelled(answer, id));
		proxy.heal();
		assertThat(counts.received()).isLessThan(KEYS);
		assertThat(redis.client().dbsize()).isEqualTo(KEYS - counts.applied());
	}

	@Test
	void aReliablePopWhoseValuesStillHaveTheirReceipt() throws Exception {
		this.service.post("/listinput/mylist9?count=3000").report();
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 500, 0);
		CompletableFuture<Answer> answer = start("/piperpop/3000?reliable=true&batchSize=1000&coalesce=off");
		ProxyLink link = place.get(1, TimeUnit.MINUTES);
		String id = this.service.awaitJob("running");
		cancel(id);
		link.goOn();
		JsonNode job = cancelled(answer, id);
		Counts counts = Answer.counts(job);
		assertThat(counts.applied()).isBetween(500L, 2999L);
		assertThat(job.get("values").size()).isEqualTo((int) counts.applied());
		assertThat(redis.client().llen("mylist9")).isEqualTo(counts.unprocessed());
		assertThat(this.service.post("/v1/jobs/" + id + "/nack").status()).isEqualTo(204);
		assertThat(redis.client().llen("mylist9")).isEqualTo(3000);
	}

	@Test
	void aReliablePopThatWaitsForItsTurnRecordsNoReceipt() throws Exception {
		this.service.begin("first");
		await().until(() -> redis.client().dbsize() == 1);
		redis.client().configResetstat();
		CompletableFuture<Answer> answer = start("/piperpop/10?reliable=true");
		String id = this.service.awaitJob("queued");
		cancel(id);
		assertThat(Answer.counts(cancelled(answer, id))).isEqualTo(new Counts(10, 0, 0, 0, 0, 10));
		assertThat(redis.client().info("commandstats")).doesNotContain("evalsha");
	}

	@Test
	void anAnalysis() throws Exception {
		this.service.post("/pipeset/5000").report();
		CompletableFuture<Answer> answer = start("/v1/analyses?rateLimit=100&scanCount=10");
		String id = this.service.awaitJob("running");
		await().until(() -> this.service.get("/v1/jobs/" + id).json().at("/progress/done").asLong() > 0);
		JsonNode analysis = cancelledTask(answer, id, "analysis");
		assertThat(analysis.get("keys").asLong()).isBetween(1L, 4999L);
	}

	@Test
	void aTuningWhoseKeysAreRemoved() throws Exception {
		CompletableFuture<Answer> answer = start("/v1/tunings?records=200000&runs=10&budget=60s");
		String id = this.service.awaitJob("running");
		await().until(() -> redis.client().dbsize() > 0);
		JsonNode tuning = cancelledTask(answer, id, "tuning");
		assertThat(tuning.get("tuningId").asString()).isEqualTo(id);
		await().until(() -> redis.client().dbsize() == 0);
	}

	@Test
	void aJobThatIsPacedOrThatGoesOnForHours() throws Exception {
		CompletableFuture<Answer> answer = start("/pipeset/1000000?rateLimit=1");
		await().until(() -> redis.client().dbsize() > 0);
		String id = this.service.awaitJob("running");
		cancel(id);
		Counts counts = Answer.counts(cancelled(answer, id));
		assertThat(counts.applied()).isEqualTo(redis.client().dbsize());
		assertThat(counts.received()).isEqualTo(1_000_000);
	}

	@Test
	void notAJobThatHasEndedOrThatNobodyKnows() {
		String location = this.service.post("/pipeset/1").header("Location");
		assertThat(this.service.delete(location).refusal(409, "ended")).contains("completed");
		// Another test may have restarted the Redis that knows the jobs of other
		// instances.
		await().untilAsserted(() -> assertThat(
				this.service.delete("/v1/jobs/01a20347-d60e-7396-9c73-7157c8413711").refusal(404, "not-found"))
			.contains("01a20347-d60e-7396-9c73-7157c8413711"));
	}

	private CompletableFuture<Answer> start(String call) {
		return this.service.sendAsync(this.service.request(call).POST(BodyPublishers.noBody()));
	}

	private void cancel(String id) {
		Answer answer = this.service.delete("/v1/jobs/" + id);
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		assertThat(answer.header("Location")).isEqualTo("/v1/jobs/" + id);
		assertThat(answer.json().get("state").asString()).isIn("queued", "running", "cancelled");
	}

	/** The report that the caller of a cancelled job gets. */
	private JsonNode cancelled(CompletableFuture<Answer> answer, String id) throws Exception {
		JsonNode job = answer.get(1, TimeUnit.MINUTES).job(409, "cancelled", "cancelled");
		assertThat(job.get("jobId").asString()).isEqualTo(id);
		hasEnded(id);
		return job;
	}

	private JsonNode cancelledTask(CompletableFuture<Answer> answer, String id, String name) throws Exception {
		cancel(id);
		JsonNode report = answer.get(1, TimeUnit.MINUTES).problem(409, "cancelled").get(name);
		assertThat(report.get("state").asString()).isEqualTo("cancelled");
		hasEnded(id);
		return report;
	}

	private void hasEnded(String id) {
		JsonNode look = this.service.get("/v1/jobs/" + id).json();
		assertThat(look.get("state").asString()).isEqualTo("cancelled");
		assertThat(look.at("/ending/type").asString()).isEqualTo("cancelled");
		this.service.delete("/v1/jobs/" + id).refusal(409, "ended");
	}

}
