package io.pipeset.web.upload;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.Objects;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/** Files that Redis and its tools write keep their meaning, or are refused. */
@ServiceTest(properties = "pipeset.spool.directory=target/spool/files")
class CommandFileTests {

	private static final String RESP = "application/x-redis-resp";

	private static final String TEXT = "text/plain";

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	CommandFileTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		assumeThat(TestRedis.shared().uri().getDatabase()).isZero();
		this.redis.flushall();
	}

	@Test
	void recordsOfOtherDatabasesAreRejectedOneByOne() {
		JsonNode report = post("", RESP, "all-dbs.resp").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(6, 2, 0, 4, 0, 0));
		assertThat(report.at("/errorCodes/WRONG_DATABASE").asInt()).isEqualTo(4);
		assertThat(report.at("/items/1/op").asString()).isEqualTo("HSET");
		assertThat(report.at("/items/1/key").asString()).isEqualTo("r04:cart:1");
		assertThat(report.at("/items/1/index").asInt()).isEqualTo(3);
		assertThat(this.redis.get("r04:user:1")).isEqualTo("ada@db0");
		assertThat(this.redis.ttl("r04:user:1")).isPositive();
		assertThat(this.redis.keys("*")).containsExactly("r04:user:1");
	}

	@Test
	void aDryRunSaysTheSame() {
		JsonNode report = post("?dryRun=true", RESP, "all-dbs.resp").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(6, 0, 0, 4, 0, 2));
		assertThat(report.at("/errorCodes/WRONG_DATABASE").asInt()).isEqualTo(4);
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void textSaysTheSame() {
		JsonNode report = post("", TEXT, "all-dbs.txt").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(4, 1, 0, 3, 0, 0));
		assertThat(report.at("/items/1/error/code").asString()).isEqualTo("MALFORMED");
		assertThat(report.at("/errorCodes/WRONG_DATABASE").asInt()).isEqualTo(2);
		assertThat(this.redis.keys("*")).containsExactly("r04:user:1");
	}

	@Test
	void itemsOfOtherDatabasesAreNotToBePostedAgain() {
		Answer accepted = this.service.send(request("", RESP, "all-dbs.resp").header("Prefer", "respond-async"));
		assertThat(accepted.status()).isEqualTo(202);
		String job = accepted.header("Location");
		await().until(() -> this.service.get(job).json().at("/state").asString().equals("completed"));
		String items = this.service.get(job + "/items").text();
		assertThat(items.lines()).hasSize(4).allMatch((line) -> line.contains("WRONG_DATABASE"));
		JsonNode again = this.service.post("/v1/jobs", Service.NDJSON, items).report();
		assertThat(Answer.counts(again)).isEqualTo(new Counts(4, 0, 0, 4, 0, 0));
		assertThat(this.redis.keys("*")).containsExactly("r04:user:1");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "?dryRun=true" })
	void transactionsAreWarnedOf(String query) {
		JsonNode report = this.service.post("/v1/jobs" + query, TEXT, "MULTI\nSET a 1\nSET b 2\nEXEC\nMULTI\nEXEC\n")
			.report();
		assertThat(report.at("/counts/received").asInt()).isEqualTo(2);
		assertThat(report.at("/errors").asBoolean()).isFalse();
		assertThat(report.get("warnings")).hasSize(1);
		assertThat(report.at("/warnings/0/code").asString()).isEqualTo("TRANSACTIONS_IGNORED");
		assertThat(report.at("/warnings/0/count").asInt()).isEqualTo(2);
		assertThat(this.service.post("/v1/jobs", TEXT, "SET a 1\n").report().get("warnings")).isNull();
	}

	@Test
	void anIncrementOfAnAppendOnlyFileRestoresItsData() {
		JsonNode report = post("", RESP, "increment.aof").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(9, 9, 0, 0, 0, 0));
		assertThat(report.at("/errors").asBoolean()).isFalse();
		assertThat(report.at("/warnings/0/code").asString()).isEqualTo("TRANSACTIONS_IGNORED");
		assertThat(report.at("/warnings/0/count").asInt()).isOne();
		assertThat(this.redis.get("r03:a")).isEqualTo("6");
		assertThat(this.redis.get("r03:b")).isEqualTo("2");
		assertThat(this.redis.pttl("r03:b") + System.currentTimeMillis()).isCloseTo(4_102_444_800_000L,
				within(60_000L));
		assertThat(this.redis.hgetall("r03:h")).containsOnly(entry("name", "Ada"), entry("city", "Turin"));
		assertThat(this.redis.lrange("r03:l", 0, -1)).containsExactly("x", "y", "z");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "?coalesce=off" })
	void linesOfCommandsAreNotMixed(String query) {
		JsonNode report = post(query, TEXT, "suggest.txt").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(7, 7, 0, 0, 0, 0));
		assertThat(this.redis.zrange("r02:ngram:harbour view", 0, -1)).containsExactly("harbour view",
				"harbour view inn");
		assertThat(this.redis.hgetall("r02:result:harbour view")).containsOnly(entry("title", "HARBOUR VIEW, ME"),
				entry("zip", "04101"));
		assertThat(this.redis.hgetall("r02:result:o'neil & sons")).containsOnly(entry("title", "O'NEIL & SONS, WA"),
				entry("zip", "98001"));
		assertThat(this.redis.hget("r02:result:plain", "zip")).isEqualTo("00501");
	}

	@Test
	void countersCount() {
		assertThat(Answer.counts(post("", TEXT, "counters.txt").report())).isEqualTo(new Counts(6, 6, 0, 0, 0, 0));
		assertThat(this.redis.get("r02:hits:home")).isEqualTo("4");
		assertThat(this.redis.get("r02:first")).isEqualTo("1");
		assertThat(this.redis.get("r02:m:2")).isEqualTo("b");
	}

	@Test
	void discardEndsTheJob() {
		Answer answer = this.service.post("/v1/jobs", TEXT, "MULTI\nSET a 1\nDISCARD\nSET b 1\n");
		assertThat(Answer.counts(answer.job(400, "malformed-body", "failed"))).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(answer.json().at("/detail").asString()).startsWith("At byte 14 of the body: DISCARD ");
		assertThat(this.redis.keys("*")).containsExactly("a");
	}

	@ParameterizedTest
	@ValueSource(strings = { "preamble.aof", "only.rdb" })
	void anRdbFileIsNamedBeforeAnythingRuns(String file) {
		for (String type : new String[] { RESP, TEXT, "text/csv", Service.NDJSON, Service.JSON }) {
			assertRdb(this.service.send(request("?op=SET", type, bytes(file))));
			assertRdb(this.service
				.send(request("?op=SET", type, FormatTests.gzip(bytes(file))).header("Content-Encoding", "gzip")));
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	private static void assertRdb(Answer answer) {
		assertThat(Answer.counts(answer.job(400, "malformed-body", "failed"))).isEqualTo(new Counts(0, 0, 0, 0, 0, 0));
		assertThat(answer.json().at("/detail").asString()).contains("RDB", "REDIS0011", "aof-use-rdb-preamble no");
	}

	private Answer post(String query, String type, String file) {
		return this.service.send(request(query, type, file));
	}

	private HttpRequest.Builder request(String query, String type, String file) {
		return request(query, type, bytes(file));
	}

	private HttpRequest.Builder request(String query, String type, byte[] body) {
		return this.service.request("/v1/jobs" + query)
			.header("Content-Type", type)
			.POST(BodyPublishers.ofByteArray(body));
	}

	private static byte[] bytes(String file) {
		try (InputStream in = CommandFileTests.class.getResourceAsStream("/uploads/" + file)) {
			return Objects.requireNonNull(in).readAllBytes();
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
	}

}
