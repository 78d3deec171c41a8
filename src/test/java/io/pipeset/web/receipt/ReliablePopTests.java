package io.pipeset.web.receipt;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.OwnThread;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** A value that is popped reliably is not lost before the caller has acknowledged it. */
@ServiceTest
class ReliablePopTests {

	private static final String UNKNOWN_JOB = "0199a6f2-0000-7000-8000-000000000000";

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ReliablePopTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void theValuesAreInTheReportAndStillInRedis() {
		this.service.post("/listinput/mylist9?count=60").report();
		JsonNode report = this.service.post("/piperpop/100?reliable=true&receiptTtl=30s").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(100, 60, 40, 0, 0, 0));
		assertThat(values(report)).isEqualTo(Service.generated(0, 60));
		assertThat(report.get("items")).isEmpty();
		assertThat(report.at("/settings/op").asString()).isEqualTo("RPOP");
		assertThat(report.at("/settings/receiptTtl").asString()).isEqualTo("30s");
		long now = Long.parseLong(this.redis.time().get(0)) * 1000;
		assertThat(report.at("/receipt/deadlineMillis").asLong()).isBetween(now + 20_000, now + 31_000);
		String list = "pipeset:pop:" + id(report);
		assertThat(this.redis.exists("mylist9")).isZero();
		assertThat(this.redis.lrange(list, 0, -1)).hasSize(60).first().isEqualTo("value-00059");
		assertThat(this.redis.ttl(list)).isEqualTo(-1);
	}

	@Test
	void whatIsAcknowledgedIsGoneForGood() {
		this.service.post("/listinput/mylist9?count=60").report();
		String id = id(this.service.post("/piperpop/10?reliable=true").report());
		Answer answer = this.service.post("/v1/jobs/" + id + "/ack");
		assertThat(answer.status()).isEqualTo(204);
		assertThat(this.redis.llen("mylist9")).isEqualTo(50);
		assertThat(this.redis.keys("*")).containsExactly("mylist9");
		assertThat(this.service.post("/v1/jobs/" + id + "/ack").refusal(410, "gone")).contains("no longer");
		this.service.post("/v1/jobs/" + id + "/nack").refusal(410, "gone");
		assertThat(this.redis.llen("mylist9")).isEqualTo(50);
	}

	@ParameterizedTest
	@CsvSource({ "60, 10", "60, 60", "60, 100", "501, 500", "2000, 1500" })
	void whatIsNotAcknowledgedGoesBackToWhereItWas(int pushed, int popped) {
		this.service.post("/listinput/mylist9?count=" + pushed).report();
		List<String> before = this.redis.lrange("mylist9", 0, -1);
		String id = id(this.service.post("/piperpop/" + popped + "?reliable=true").report());
		assertThat(this.service.post("/v1/jobs/" + id + "/nack").status()).isEqualTo(204);
		assertThat(this.redis.lrange("mylist9", 0, -1)).isEqualTo(before);
		assertThat(this.redis.keys("*")).containsExactly("mylist9");
		this.service.post("/v1/jobs/" + id + "/nack").refusal(410, "gone");
		this.service.post("/v1/jobs/" + id + "/ack").refusal(410, "gone");
	}

	@Test
	void whatWasPushedMeanwhileStaysBehindWhatGoesBack() {
		this.redis.lpush("mylist9", "a", "b", "c");
		String id = id(this.service.post("/piperpop/2?reliable=true").report());
		this.redis.lpush("mylist9", "d");
		this.service.post("/v1/jobs/" + id + "/nack");
		assertThat(this.redis.lrange("mylist9", 0, -1)).containsExactly("d", "c", "b", "a");
	}

	@Test
	void valuesOfAnyBytesGoBackAsTheyWere() {
		String escapes = "RPUSH bytes \"\\x00\\xff\" \"\" \"\\r\\n\" \"\\xe2\\x82\\xac\"\n";
		this.service.post("/v1/jobs", "text/plain", escapes).report();
		JsonNode report = this.service.post("/piperpop/4?key=bytes&reliable=true").report();
		assertThat(report.at("/values/0").asString()).isEqualTo("\u20ac");
		assertThat(report.at("/values/3/base64").asString()).isEqualTo("AP8=");
		this.service.post("/v1/jobs/" + id(report) + "/nack");
		assertThat(this.service.post("/piperpop/4?key=bytes").report().get("values")).isEqualTo(report.get("values"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/piperpop/0", "/piperpop/100", "/piperpop/100?key=none", "/piperpop/100?key=text",
			"/piperpop/100?key=pipeset:receipts" })
	void aJobThatPopsNothingLeavesNoReceipt(String path) {
		this.redis.set("text", "no list");
		Answer answer = this.service.post(path + ((path.contains("?")) ? "&" : "?") + "reliable=true");
		JsonNode report = answer.report();
		assertThat(report.has("receipt")).isFalse();
		assertThat(values(report)).isEmpty();
		assertThat(this.redis.keys("*")).containsExactly("text");
		if (path.endsWith("text")) {
			assertThat(report.at("/items/0/op").asString()).isEqualTo("RPOP");
			assertThat(report.at("/items/0/key").asString()).isEqualTo("text");
			assertThat(report.at("/items/0/error/code").asString()).isEqualTo("WRONGTYPE");
		}
		this.service.post("/v1/jobs/" + id(report) + "/ack").refusal(410, "gone");
	}

	@ParameterizedTest
	@ValueSource(strings = { "ack", "nack" })
	void anIdOfNoJobIsNotFoundAndOneWithoutAReceiptIsGone(String call) {
		for (String id : List.of("1", "0199a6f2", "0199a6f2-0000-4000-8000-000000000000", "*",
				UNKNOWN_JOB.toUpperCase(Locale.ROOT) + "A")) {
			this.service.post("/v1/jobs/" + id + "/" + call).refusal(404, "not-found");
		}
		this.service.post("/v1/jobs/" + UNKNOWN_JOB + "/" + call).refusal(410, "gone");
		assertThat(this.service.get("/v1/jobs/" + UNKNOWN_JOB + "/" + call).header("Allow")).isEqualTo("POST");
		assertThat(this.service.post("/v1/jobs/" + UNKNOWN_JOB + "/" + call + "?force=true")
			.refusal(400, "unknown-setting")).contains("'force'");
		this.service.post("/v1/jobs/" + UNKNOWN_JOB + "/" + call, Service.JSON, "{}").refusal(400, "unexpected-body");
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void valuesWhoseKeyHoldsSomethingElseByNowWaitUntilTheyCanGoBack() {
		this.redis.lpush("mylist9", "a", "b");
		String id = id(this.service.post("/piperpop/2?reliable=true").report());
		this.redis.set("mylist9", "no list");
		assertThat(this.service.post("/v1/jobs/" + id + "/nack").status()).isEqualTo(202);
		this.service.post("/v1/jobs/" + id + "/ack").refusal(410, "gone");
		assertThat(this.redis.get("mylist9")).isEqualTo("no list");
		this.redis.del("mylist9");
		assertThat(this.service.post("/v1/jobs/" + id + "/nack").status()).isEqualTo(204);
		assertThat(this.redis.lrange("mylist9", 0, -1)).containsExactly("b", "a");
		assertThat(this.redis.keys("*")).containsExactly("mylist9");
	}

	@Test
	void aReceiptThatWasNotHandedOverCannotBeAcknowledged() {
		this.redis.lpush("mylist9", "a", "b");
		String id = id(this.service.post("/piperpop/2?reliable=true").report());
		this.redis.hset("pipeset:receipt:" + id, "state", "popping");
		this.service.post("/v1/jobs/" + id + "/ack").refusal(409, "receipt-pending");
		assertThat(this.service.post("/v1/jobs/" + id + "/nack").status()).isEqualTo(204);
		assertThat(this.redis.lrange("mylist9", 0, -1)).containsExactly("b", "a");
		// Otherwise a job that still ran would move values into a list that nobody reads.
		assertThat(this.redis.get("pipeset:pop:" + id)).isEqualTo("given back");
		assertThat(this.redis.ttl("pipeset:pop:" + id)).isPositive();
	}

	@Test
	void poppersAtOnceNeverShareAValueAndLoseNone() throws Exception {
		int count = 100_000;
		this.service.post("/listinput/queue?count=" + count).report();
		List<CompletableFuture<Answer>> jobs = IntStream.range(0, 8)
			.mapToObj((i) -> this.service
				.sendAsync(this.service.request("/piperpop/" + count / 4 + "?key=queue&reliable=true&batchSize=500")
					.POST(BodyPublishers.noBody())))
			.toList();
		List<String> popped = new ArrayList<>();
		for (CompletableFuture<Answer> job : jobs) {
			JsonNode report = job.get(60, TimeUnit.SECONDS).report();
			List<String> values = values(report);
			assertThat(values).isSorted();
			popped.addAll(values);
			if (!values.isEmpty()) {
				assertThat(this.service.post("/v1/jobs/" + id(report) + "/ack").status()).isEqualTo(204);
			}
		}
		Collections.sort(popped);
		assertThat(popped).isEqualTo(Service.generated(0, count).stream().sorted().toList());
		assertThat(this.redis.dbsize()).isZero();
	}

	/**
	 * A nack does the same as the deadline, and here it certainly meets the
	 * acknowledgement.
	 */
	@Test
	void anAckAndANackAtOnceHaveOneWinner() throws Exception {
		for (int race = 0; race < 50; race++) {
			this.redis.lpush("mylist9", "a", "b", "c");
			String id = id(this.service.post("/piperpop/3?reliable=true").report());
			CyclicBarrier start = new CyclicBarrier(2);
			CompletableFuture<Integer> ack = say(id, "ack", start);
			CompletableFuture<Integer> nack = say(id, "nack", start);
			int acked = ack.get(20, TimeUnit.SECONDS);
			assertThat(List.of(acked, nack.get(20, TimeUnit.SECONDS))).containsExactlyInAnyOrder(204, 410);
			assertThat(this.redis.llen("mylist9")).isEqualTo((acked == 204) ? 0 : 3);
			assertThat(this.redis.keys("pipeset:*")).isEmpty();
			this.redis.del("mylist9");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "LMOVE a pipeset:pop:1 RIGHT LEFT", "LMOVE pipeset:pop:1 a RIGHT LEFT" })
	void nobodyElseCanMoveItsValues(String command) {
		this.redis.lpush("a", "1");
		this.redis.lpush("pipeset:pop:1", "2");
		String record = "[\"" + command.replace(" ", "\",\"") + "\"]";
		JsonNode report = this.service.ndjson("/v1/jobs", record).report();
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("FORBIDDEN");
		assertThat(this.service.post("/v1/jobs", "text/plain", command + "\n")
			.report()
			.at("/items/0/error/code")
			.asString()).isEqualTo("FORBIDDEN");
		assertThat(this.redis.lrange("a", 0, -1)).containsExactly("1");
		assertThat(this.redis.lrange("pipeset:pop:1", 0, -1)).containsExactly("2");
		this.redis.del("a", "pipeset:pop:1");
	}

	@ParameterizedTest
	@ValueSource(strings = { "[\"SET\",\"pipeset:receipts\",\"v\"]", "[\"DEL\",\"a\",\"pipeset:receipts\"]",
			"[\"RPOP\",\"pipeset:pop:1\"]", "{\"op\":\"HSET\",\"key\":\"pipeset:\",\"fields\":{\"f\":\"v\"}}",
			"[\"LPUSH\",\"pipeset:x\",\"v\"]" })
	void whatTheServiceKeepsIsForbiddenToRecords(String record) {
		this.redis.set("pipeset:receipts", "own");
		JsonNode report = this.service
			.ndjson("/v1/jobs", "[\"SET\",\"a\",\"1\"]", record, "[\"SET\",\"pipeset\",\"pipeset:v\"]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 2, 0, 1, 0, 0));
		assertThat(report.at("/items/0/index").asInt()).isOne();
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("FORBIDDEN");
		assertThat(report.at("/items/0/error/message").asString()).contains("'pipeset:'");
		assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("pipeset:receipts", "a", "pipeset");
		assertThat(this.redis.get("pipeset:receipts")).isEqualTo("own");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/listinput/pipeset:list?count=3", "/piperpop/3?key=pipeset:list" })
	void whatTheServiceKeepsIsForbiddenToShortcuts(String path) {
		this.redis.lpush("pipeset:list", "a", "b");
		JsonNode report = this.service.post(path).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 0, 0, 3, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("FORBIDDEN");
		assertThat(this.redis.llen("pipeset:list")).isEqualTo(2);
	}

	private CompletableFuture<Integer> say(String id, String call, CyclicBarrier start) {
		return OwnThread.supply(() -> {
			try {
				start.await(20, TimeUnit.SECONDS);
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
			return this.service.post("/v1/jobs/" + id + "/" + call).status();
		});
	}

	static String id(JsonNode report) {
		return report.get("jobId").asString();
	}

	static List<String> values(JsonNode report) {
		return Answer.strings(report.get("values"));
	}

}
