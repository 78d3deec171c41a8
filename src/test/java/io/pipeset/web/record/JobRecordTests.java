package io.pipeset.web.record;

import java.util.List;
import java.util.Map;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
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
import static org.assertj.core.api.Assertions.entry;

/** Records that are posted to {@code /v1/jobs} reach Redis as the intended commands. */
@ServiceTest
class JobRecordTests {

	private static final Counts ONE_NOOP = new Counts(1, 0, 1, 0, 0, 0);

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	JobRecordTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { Service.NDJSON, Service.JSON })
	void everyOperationWorksInEveryFormat(String type) {
		this.redis.rpush("queue", "first", "second", "third");
		this.redis.set("old", "x");
		List<String> records = List.of("{\"op\":\"SET\",\"key\":\"user:1\",\"value\":\"Ada\",\"ttl\":3600}",
				"{\"op\":\"HSET\",\"key\":\"u:1\",\"fields\":{\"name\":\"Ada\",\"age\":36}}",
				"{\"op\":\"RPOP\",\"key\":\"queue\"}", "{\"op\":\"LPUSH\",\"key\":\"list\",\"args\":[\"a\",\"b\"]}",
				"{\"op\":\"DEL\",\"key\":\"old\"}");
		JsonNode report = this.service.post("/v1/jobs", type, body(type, records)).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(5, 5, 0, 0, 0, 0));
		assertThat(this.redis.get("user:1")).isEqualTo("Ada");
		assertThat(this.redis.ttl("user:1")).isBetween(3590L, 3600L);
		assertThat(this.redis.hgetall("u:1")).containsOnly(entry("name", "Ada"), entry("age", "36"));
		assertThat(this.redis.lrange("queue", 0, -1)).containsExactly("first", "second");
		assertThat(this.redis.lrange("list", 0, -1)).containsExactly("b", "a");
		assertThat(this.redis.exists("old")).isZero();
		assertThat(report.at("/items/0/reply").asString()).isEqualTo("third");
		assertThat(report.get("items")).hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { Service.NDJSON, Service.JSON })
	void recordsMayBeCommandArrays(String type) {
		List<String> records = List.of("[\"SET\",\"k\",\"v\",\"EX\",\"100\"]", "[\"hset\",\"h\",\"f\",1,\"g\",true]",
				"[\"LPUSH\",\"l\",\"a\"]");
		this.service.post("/v1/jobs", type, body(type, records)).report();
		assertThat(this.redis.get("k")).isEqualTo("v");
		assertThat(this.redis.ttl("k")).isBetween(90L, 100L);
		assertThat(this.redis.hgetall("h")).containsOnly(entry("f", "1"), entry("g", "true"));
		assertThat(this.redis.lrange("l", 0, -1)).containsExactly("a");
	}

	@Test
	void valuesArriveByteForByte() {
		this.service
			.ndjson("/v1/jobs?op=SET", "{\"key\":\"ключ\",\"value\":\"π😀\\n\\u0000\\\"\"}",
					"{\"key\":\"number\",\"value\":1.50}", "{\"key\":\"true\",\"value\":true}",
					"{\"key\":\"object\",\"value\":{ \"a\" : [1, 2] }}", "{\"key\":\"empty\",\"value\":\"\"}")
			.report();
		assertThat(this.redis.get("ключ")).isEqualTo("π😀\n\0\"");
		assertThat(this.redis.get("number")).isEqualTo("1.50");
		assertThat(this.redis.get("true")).isEqualTo("true");
		assertThat(this.redis.get("object")).isEqualTo("{\"a\":[1,2]}");
		assertThat(this.redis.get("empty")).isEmpty();
	}

	@Test
	void theOpSettingIsForRecordsThatNameNone() {
		JsonNode report = this.service
			.ndjson("/v1/jobs?op=lpush", "{\"key\":\"l\",\"args\":[\"a\"]}",
					"{\"op\":\"LPUSH\",\"key\":\"l\",\"value\":\"b\"}")
			.report();
		assertThat(report.at("/settings/op").asString()).isEqualTo("LPUSH");
		assertThat(this.redis.lrange("l", 0, -1)).containsExactly("b", "a");
	}

	@Test
	void aRecordWithoutAnOperationIsMalformed() {
		JsonNode report = this.service.ndjson("/v1/jobs", "{\"key\":\"k\",\"value\":\"v\"}").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("MALFORMED");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "FLUSHALL", "KEYS", "CONFIG", "BLPOP", "MULTI", "SELECT", "SUBSCRIBE", "EVAL", "GET",
			"SHUTDOWN", "NONSENSE" })
	void anOperationOutsideTheTableIsRefusedByName(String operation) {
		this.redis.set("stays", "1");
		JsonNode report = this.service
			.ndjson("/v1/jobs", "[\"" + operation + "\",\"stays\"]", "{\"op\":\"" + operation + "\",\"key\":\"stays\"}")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 0, 0, 2, 0, 0));
		for (JsonNode item : report.get("items")) {
			assertThat(item.at("/error/code").asString()).isEqualTo("UNKNOWN_OPERATION");
			assertThat(item.at("/error/message").asString())
				.startsWith("operation '" + operation + "' is not supported");
			assertThat(item.at("/error/retryable").asBoolean(true)).isFalse();
		}
		assertThat(this.redis.get("stays")).isEqualTo("1");
	}

	@ParameterizedTest
	@CsvSource({ "NX, there, old", "XX, absent," })
	void aSetWhoseConditionDoesNotHoldIsANoop(String condition, String key, String value) {
		this.redis.set("there", "old");
		JsonNode report = this.service.ndjson("/v1/jobs", "[\"SET\",\"" + key + "\",\"new\",\"" + condition + "\"]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(ONE_NOOP);
		assertThat(this.redis.get(key)).isEqualTo(value);
	}

	@ParameterizedTest
	@CsvSource({ "NX, absent", "XX, there" })
	void aSetWhoseConditionHoldsIsApplied(String condition, String key) {
		this.redis.set("there", "old");
		JsonNode report = this.service.ndjson("/v1/jobs", "[\"SET\",\"" + key + "\",\"new\",\"" + condition + "\"]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(this.redis.get(key)).isEqualTo("new");
	}

	@ParameterizedTest
	@ValueSource(strings = { "[\"RPOP\",\"nothing\"]", "[\"RPOP\",\"nothing\",5]",
			"{\"op\":\"RPOP\",\"key\":\"nothing\",\"count\":3}" })
	void aPopFromAnEmptyListIsANoop(String record) {
		assertThat(Answer.counts(this.service.ndjson("/v1/jobs", record).report())).isEqualTo(ONE_NOOP);
	}

	@Test
	void aDelOfNothingIsApplied() {
		assertThat(Answer.counts(this.service.ndjson("/v1/jobs", "[\"DEL\",\"nothing\"]").report()))
			.isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
	}

	@Test
	void aPopWithACountBringsItsValuesInTheOrderTheyWerePopped() {
		this.redis.rpush("queue", "1", "2", "3", "4", "5");
		JsonNode report = this.service
			.ndjson("/v1/jobs", "{\"op\":\"RPOP\",\"key\":\"queue\",\"count\":3}",
					"{\"op\":\"RPOP\",\"key\":\"queue\",\"count\":9}")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(Answer.strings(report.at("/items/0/reply"))).containsExactly("5", "4", "3");
		assertThat(Answer.strings(report.at("/items/1/reply"))).containsExactly("2", "1");
		assertThat(this.redis.exists("queue")).isZero();
	}

	@Test
	void aPopOfNothingByCountTakesNothing() {
		this.redis.rpush("queue", "1");
		assertThat(Answer.counts(this.service.ndjson("/v1/jobs", "[\"RPOP\",\"queue\",0]").report()))
			.isEqualTo(ONE_NOOP);
		assertThat(this.redis.llen("queue")).isOne();
	}

	@Test
	void aValueThatIsNotUtf8IsBase64() {
		pushBinary("queue");
		JsonNode report = this.service.ndjson("/v1/jobs", "[\"RPOP\",\"queue\"]", "[\"RPOP\",\"queue\",2]").report();
		assertThat(report.at("/items/0/reply/base64").asString()).isEqualTo("//4AAQ==");
		assertThat(report.at("/items/1/reply/0/base64").asString()).isEqualTo("//4AAQ==");
		assertThat(report.at("/items/1/reply/1").asString()).isEqualTo("text");
	}

	@Test
	void aPoppedValueThatIsNotUtf8IsBase64InPiperpopToo() {
		pushBinary("mylist9");
		JsonNode values = this.service.post("/piperpop/3").report().get("values");
		assertThat(values.at("/0/base64").asString()).isEqualTo("//4AAQ==");
		assertThat(values.at("/2").asString()).isEqualTo("text");
	}

	@Test
	void delTakesSeveralKeysAtOnce() {
		this.redis.mset(Map.of("a", "1", "b", "2", "c", "3"));
		JsonNode report = this.service.ndjson("/v1/jobs?results=all&concurrency=4", "[\"DEL\",\"a\",\"b\",\"none\"]")
			.report();
		assertThat(report.at("/items/0/reply").asInt()).isEqualTo(2);
		assertThat(this.redis.keys("*")).containsExactly("c");
	}

	@Test
	void blankLinesAndWindowsLineEndsAreNoRecords() {
		JsonNode report = this.service
			.post("/v1/jobs?op=SET", Service.NDJSON,
					"\r\n{\"key\":\"a\",\"value\":\"1\"}\r\n\n  \n{\"key\":\"b\",\"value\":\"2\"}\r\nbad")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 2, 0, 1, 0, 0));
		assertThat(report.at("/items/0/index").asInt()).isEqualTo(2);
		assertThat(report.at("/items/0/line").asInt()).isEqualTo(6);
		assertThat(this.redis.get("a")).isEqualTo("1");
		assertThat(this.redis.get("b")).isEqualTo("2");
	}

	@ParameterizedTest
	@CsvSource({ "application/x-ndjson, ''", "application/json, []" })
	void aJobOfNoRecordsIsComplete(String type, String body) {
		assertThat(Answer.counts(this.service.post("/v1/jobs", type, body).report()))
			.isEqualTo(new Counts(0, 0, 0, 0, 0, 0));
	}

	private void pushBinary(String key) {
		this.redis.eval("redis.call('RPUSH', KEYS[1], 'text', '\\255\\254\\0\\1', '\\255\\254\\0\\1')",
				ScriptOutputType.STATUS, key);
	}

	private static String body(String type, List<String> records) {
		return (type.equals(Service.JSON)) ? "[" + String.join(",", records) + "]" : String.join("\n", records);
	}

}
