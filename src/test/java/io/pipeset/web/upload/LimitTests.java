package io.pipeset.web.upload;

import java.util.List;
import java.util.stream.IntStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every limit on pops, records and generated records is kept, and the answer names it.
 */
@ServiceTest(properties = { "pipeset.limits.max-generated=500", "pipeset.limits.max-popped=100",
		"pipeset.limits.max-popped-bytes=64KB", "pipeset.limits.max-items=10", "pipeset.limits.max-record-bytes=4KB",
		"pipeset.limits.max-key-bytes=20B", "pipeset.limits.max-value-bytes=2KB", "pipeset.limits.max-arguments=20" })
class LimitTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	LimitTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@CsvSource({ "/pipeset/501, max-generated, 500", "/pipehset/501, max-generated, 500",
			"/listinput/l?count=501, max-generated, 500", "/piperpop/101, max-popped, 100" })
	void aCountBeyondTheConfiguredLimitIsRefused(String path, String property, String most) {
		assertThat(this.service.post(path).refusal(400, "invalid-count")).contains("pipeset.limits." + property)
			.contains(most);
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void theLimitItselfIsAllowed() {
		this.service.post("/listinput/mylist9?count=500").report();
		assertThat(this.service.post("/piperpop/100").report().get("values")).hasSize(100);
		this.service.post("/pipeset/500").report();
		assertThat(this.redis.dbsize()).isEqualTo(501);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "?concurrency=4&batchSize=7" })
	void aJobStopsBeforeItPopsMoreValuesThanAReportMayCarry(String settings) {
		fill("queue", 150, "");
		JsonNode job = this.service
			.upload("/v1/jobs" + settings, Service.NDJSON, Lines.of(150, (i) -> "[\"RPOP\",\"queue\"]"))
			.job(422, "stopped", "stopped");
		assertThat(Answer.counts(job).applied()).isEqualTo(100);
		assertThat(job.at("/inputComplete").asBoolean(true)).isFalse();
		assertThat(job.at("/nextIndex").asInt()).isEqualTo(100);
		assertThat(replies(job)).isEqualTo(IntStream.range(0, 100).mapToObj(Integer::toString).toList());
		assertThat(this.redis.llen("queue")).isEqualTo(50);
		assertThat(this.redis.lindex("queue", -1)).isEqualTo("100");
	}

	@Test
	void aPopThatMightTakeTooManyValuesIsNotSent() {
		fill("queue", 150, "");
		Answer answer = this.service.ndjson("/v1/jobs", "[\"RPOP\",\"queue\",60]", "[\"RPOP\",\"queue\",60]",
				"[\"SET\",\"k\",\"v\"]");
		JsonNode job = answer.job(422, "stopped", "stopped");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(answer.json().at("/detail").asString()).contains("pipeset.limits.max-popped=100");
		assertThat(this.redis.llen("queue")).isEqualTo(90);
		assertThat(this.redis.exists("k")).isZero();
	}

	@Test
	void popsThatFoundNothingDoNotCountAgainstTheLimit() {
		fill("queue", 50, "");
		JsonNode report = this.service.upload("/v1/jobs", Service.NDJSON, Lines.of(400, (i) -> "[\"RPOP\",\"queue\"]"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(400, 50, 350, 0, 0, 0));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/piperpop/60?key=queue", "/v1/jobs" })
	void aJobStopsBeforeItPopsMoreBytesThanAReportMayCarry(String path) {
		fill("queue", 60, "x".repeat(10_000));
		Answer answer = (path.startsWith("/v1"))
				? this.service.upload(path, Service.NDJSON, Lines.of(60, (i) -> "[\"RPOP\",\"queue\"]"))
				: this.service.post(path);
		JsonNode job = answer.job(422, "stopped", "stopped");
		assertThat(answer.json().at("/detail").asString()).contains("pipeset.limits.max-popped-bytes");
		long taken = Answer.counts(job).applied();
		assertThat(taken).isBetween(5L, 7L);
		assertThat(this.redis.llen("queue")).isEqualTo(60 - taken);
		if (!path.startsWith("/v1")) {
			assertThat(job.get("values")).hasSize((int) taken);
		}
	}

	@Test
	void oneRecordThatAsksForMoreBytesThanAllowedTakesNoMoreThanThose() {
		fill("queue", 100, "x".repeat(10_000));
		JsonNode job = this.service.ndjson("/v1/jobs", "[\"RPOP\",\"queue\",90]", "[\"RPOP\",\"queue\"]")
			.job(422, "stopped", "stopped");
		assertThat(job.at("/items/0/reply")).hasSize(6);
		assertThat(this.redis.llen("queue")).isEqualTo(94);
	}

	@Test
	void itemsAreCutOffAtTheConfiguredNumber() {
		JsonNode report = this.service.upload("/v1/jobs", Service.NDJSON, Lines.of(15, (i) -> "bad")).report();
		assertThat(report.get("items")).hasSize(10);
		assertThat(report.get("itemsOmitted").asInt()).isEqualTo(5);
	}

	@Test
	void aRecordThatIsTooLargeIsRejectedAndTheNextOneRuns() {
		JsonNode report = this.service
			.ndjson("/v1/jobs", "[\"SET\",\"a\",\"" + "x".repeat(5000) + "\"]", "[\"SET\",\"b\",\"1\"]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("TOO_LARGE");
		assertThat(report.at("/items/0/error/message").asString()).contains("pipeset.limits.max-record-bytes");
		assertThat(this.redis.keys("*")).containsExactly("b");
	}

	@ParameterizedTest
	@ValueSource(strings = { "text/csv", "text/tab-separated-values", "application/x-ndjson", "application/json" })
	void aRowThatIsTooLargeIsARecordOfEachCommand(String type) {
		boolean cells = type.startsWith("text");
		char delimiter = (type.equals("text/csv")) ? ',' : '\t';
		StringBuilder body = new StringBuilder((cells) ? "id" + delimiter + "v\n" : "");
		for (int i = 0; i < 3; i++) {
			String value = (i == 1) ? "x".repeat(20_000) : "x";
			body.append((type.equals("application/json")) ? (i == 0) ? "[" : "," : "")
				.append((cells) ? i + "" + delimiter + value : "{\"id\":" + i + ",\"v\":\"" + value + "\"}")
				.append('\n');
		}
		body.append((type.equals("application/json")) ? "]" : "");
		JsonNode report = this.service
			.post("/v1/jobs?command=SET%20a:%7Bid%7D%20%7Bv%7D&command=SET%20b:%7Bid%7D%20%7B@index%7D", type,
					body.toString())
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(6, 4, 0, 2, 0, 0));
		assertThat(report.at("/errorCodes/TOO_LARGE").asInt()).isEqualTo(2);
		assertThat(report.at("/items/1/error/line")).isEqualTo(report.at("/items/0/error/line"));
		assertThat(this.redis.get("b:2")).isEqualTo("2");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			application/x-ndjson     | ["SADD","k"%s]                                 | ,1          | ["SADD","k",1]
			application/x-ndjson     | {"op":"SADD","key":"k","args":[0%s]}           | ,1          | ["SADD","k",1]
			application/x-ndjson     | {"args":[0%s],"key":"k","op":"SADD"}           | ,1          | ["SADD","k",1]
			application/x-ndjson     | {"op":"HSET","key":"k","fields":{%s"x":1}}     | "%d":1,     | ["SADD","k",1]
			application/json         | [["SADD","k"%s],                               | ,1          | ["SADD","k",1]]
			text/plain               | SADD k%s                                       | ' 1'        | SADD k 1
			application/x-redis-resp | '*22_$4_SADD_$1_k_%s'                          | $1_1_       | SADD k 1
			application/x-redis-resp | '*2147483647_$4_SADD_$1_k_%s'                  | $1_1_       |
			""")
	void aRecordOfTooManyArgumentsIsRejectedAndTheNextOneRuns(String type, String record, String argument,
			String next) {
		StringBuilder arguments = new StringBuilder();
		for (int i = 0; i < 20; i++) {
			arguments.append(argument.replace("%d", String.valueOf(i)));
		}
		String body = record.replace("%s", arguments).replace("_", "\r\n") + "\n" + next;
		Answer answer = this.service.post("/v1/jobs", type, body + "\n");
		JsonNode report = (next != null) ? answer.report() : answer.job(400, "malformed-body", "failed");
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("TOO_LARGE");
		assertThat(report.at("/items/0/error/message").asString())
			.isEqualTo("the record has more than 20 arguments (pipeset.limits.max-arguments)");
		assertThat(Answer.counts(report))
			.isEqualTo(new Counts((next != null) ? 2 : 1, (next != null) ? 1 : 0, 0, 1, 0, 0));
		assertThat(this.redis.dbsize()).isEqualTo((next != null) ? 1 : 0);
	}

	@ParameterizedTest
	@ValueSource(strings = { "SADD, arg%d", "HSET, f%d" })
	void rowsMayHaveAsManyArgumentsAsOtherRecords(String columns) {
		String operation = columns.substring(0, 4);
		int most = (operation.equals("HSET")) ? 9 : 19;
		String header = "key";
		String row = "k";
		for (int i = 1; i <= most; i++) {
			header += columns.substring(5).formatted(i).replace(' ', ',');
			row += "," + i;
		}
		this.service.post("/v1/jobs?op=" + operation, "text/csv", header + "\n" + row + "\n").report();
		assertThat(this.redis.keys("*")).containsExactly("k");
		header += columns.substring(5).formatted(most + 1).replace(' ', ',');
		Answer answer = this.service.post("/v1/jobs?op=" + operation, "text/csv", header + "\n" + row + ",1\n");
		assertThat(Answer.counts(answer.job(400, "malformed-body", "failed")).received()).isZero();
		assertThat(answer.json().at("/detail").asString()).contains("pipeset.limits.max-arguments");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			["SET","kkkkkkkkkkkkkkkkkkkkk","v"]                                      | max-key-bytes | 21 | ''
			["DEL","k","kkkkkkkkkkkkkkkkkkkkk"]                                      | max-key-bytes | 21 | k
			{"op":"HSET","key":"ääääääääääk","fields":{"f":"v"}}                     | max-key-bytes | 21 | ''
			["SET","k","%1$s"]                                                       | max-value-bytes | 2049 | k
			{"op":"LPUSH","key":"k","args":["v","%1$s"]}                             | max-value-bytes | 2049 | k
			{"op":"HSET","key":"k","fields":{"%1$s":"v"}}                            | max-value-bytes | 2049 | k
			{"op":"SET","key":"k","value":["%1$s"]}                                  | max-value-bytes | 2053 | k
			""")
	void aKeyOrAValueThatIsTooLargeIsRejectedAndTheNextRecordRuns(String record, String property, int met,
			String listedKey) {
		JsonNode report = this.service.ndjson("/v1/jobs", record.formatted("x".repeat(2049)), "[\"SET\",\"b\",\"1\"]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		JsonNode item = report.at("/items/0");
		assertThat(item.at("/error/code").asString()).isEqualTo("TOO_LARGE");
		assertThat(item.at("/error/message").asString()).contains("pipeset.limits." + property)
			.contains(" " + met + " bytes")
			.endsWith((property.equals("max-key-bytes")) ? " 20" : " 2048");
		assertThat(item.at("/key").asString("")).isEqualTo(listedKey);
		assertThat(this.redis.keys("*")).containsExactly("b");
	}

	@Test
	void keysAndValuesOfExactlyTheLimitAreSent() {
		String key = "k".repeat(20);
		this.service.ndjson("/v1/jobs", "[\"SET\",\"" + key + "\",\"" + "x".repeat(2048) + "\"]").report();
		assertThat(this.redis.strlen(key)).isEqualTo(2048);
		JsonNode report = this.service.post("/listinput/" + key + "k?count=3").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 0, 0, 3, 0, 0));
	}

	private void fill(String list, int values, String suffix) {
		this.redis.lpush(list, IntStream.range(0, values).mapToObj((i) -> i + suffix).toArray(String[]::new));
	}

	private static List<String> replies(JsonNode job) {
		List<JsonNode> items = job.get("items").valueStream().toList();
		return items.stream().filter((item) -> item.has("reply")).map((item) -> item.get("reply").asString()).toList();
	}

}
