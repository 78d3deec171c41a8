package io.pipeset.web.record;

import java.util.Base64;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.lettuce.core.RedisCommandExecutionException;
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
import static org.junit.jupiter.api.Assumptions.assumeFalse;

/** The report has the right outcome for Redis's answer to every operation. */
@ServiceTest
class OperationTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	OperationTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			-                         | SET k v                                  | applied | "OK"
			SET k old                 | SET k v EX 60                            | applied | "OK"
			SET k old                 | SET k v KEEPTTL                          | applied | "OK"
			-                         | SET k v NX                               | applied | "OK"
			SET k old                 | SET k v NX                               | noop    | null
			SET k old                 | SET k v XX                               | applied | "OK"
			-                         | SET k v XX                               | noop    | null
			-                         | SET k v GET                              | applied | null
			SET k old                 | SET k v GET                              | applied | "old"
			-                         | SET k v NX GET                           | applied | null
			SET k old                 | SET k v NX GET                           | noop    | "old"
			-                         | SET k v XX GET                           | noop    | null
			SET k old                 | SET k v XX GET                           | applied | "old"
			-                         | HSET k f v g w                           | applied | 2
			HSET k f v                | HSET k f w                               | applied | 0
			HSET k f v                | HDEL k f g                               | applied | 1
			-                         | HDEL k f                                 | applied | 0
			RPUSH k a b               | RPOP k                                   | applied | "b"
			RPUSH k a b               | LPOP k                                   | applied | "a"
			RPUSH k a b c             | LPOP k 2                                 | applied | ["a","b"]
			-                         | LPOP k                                   | noop    | null
			-                         | LPOP k 2                                 | noop    | null
			RPUSH k a                 | LPOP k 0                                 | noop    | []
			-                         | LPUSH k a b                              | applied | 2
			LPUSH k a                 | RPUSH k b                                | applied | 2
			SET a 1                   | DEL a b                                  | applied | 1
			SET a 1                   | UNLINK a b                               | applied | 1
			-                         | UNLINK a                                 | applied | 0
			SET k v                   | EXPIRE k 60                              | applied | 1
			-                         | EXPIRE k 60                              | noop    | 0
			SET k v EX 9              | EXPIRE k 60 NX                           | noop    | 0
			SET k v EX 9              | EXPIRE k 60 GT                           | applied | 1
			SET k v EX 9              | PERSIST k                                | applied | 1
			SET k v                   | PERSIST k                                | applied | 0
			-                         | SADD k a b                               | applied | 2
			SADD k a b                | SADD k a                                 | applied | 0
			SADD k a b                | SREM k a c                               | applied | 1
			-                         | ZADD k 1 a 2 b                           | applied | 2
			ZADD k 1 a                | ZADD k NX 5 a                            | applied | 0
			ZADD k 1 a                | ZADD k XX CH 5 a                         | applied | 1
			ZADD k 1 a                | ZADD k GT 0.5 a                          | applied | 0
			ZADD k 1 a                | ZADD k INCR 1.5 a                        | applied | 2.5
			-                         | ZADD k XX INCR 1 a                       | noop    | null
			ZADD k 1 a                | ZADD k NX INCR 1 a                       | noop    | null
			ZADD k 5 a                | ZADD k GT INCR -1 a                      | noop    | null
			ZADD k 1 a                | ZADD k LT INCR -1 a                      | applied | 0.0
			ZADD k 1 a                | ZREM k a b                               | applied | 1
			-                         | XADD k 5-1 f v                           | applied | "5-1"
			-                         | XADD k NOMKSTREAM 5-1 f v                | noop    | null
			XADD k 1-1 f v            | XADD k NOMKSTREAM MAXLEN 1 5-1 f v g w   | applied | "5-1"
			XADD k 1-1 f v            | XADD k MINID ~ 3 LIMIT 10 5-1 f v        | applied | "5-1"
			SET k 5                   | INCRBY k -7                              | applied | -2
			HSET k f 5                | HINCRBY k f 7                            | applied | 12
			-                         | PFADD k a b                              | applied | 1
			PFADD k a b               | PFADD k a b                              | applied | 0
			-                         | GEOADD k 13.36 38.11 a 15.08 37.5 b      | applied | 2
			GEOADD k 13.36 38.11 a    | GEOADD k XX CH 15.08 37.5 a              | applied | 1
			GEOADD k 13.36 38.11 a    | GEOADD k NX 15.08 37.5 a                 | applied | 0
			-                         | SETBIT k 7 1                             | applied | 0
			SETBIT k 7 1              | SETBIT k 7 0                             | applied | 1
			SET k old                 | SETEX k 60 v                             | applied | "OK"
			-                         | PSETEX k 60000 v                         | applied | "OK"
			SET k 5                   | INCR k                                   | applied | 6
			SET k 5                   | DECR k                                   | applied | 4
			SET k 5                   | DECRBY k 7                               | applied | -2
			-                         | SETNX k v                                | applied | 1
			SET k v                   | SETNX k w                                | noop    | 0
			SET k 5                   | MSET k v l w                             | applied | "OK"
			SET k old                 | APPEND k er                              | applied | 5
			SET k old                 | SETRANGE k 1 nce                         | applied | 4
			SET k old                 | GETDEL k                                 | applied | "old"
			-                         | GETDEL k                                 | noop    | null
			SET k 1                   | INCRBYFLOAT k 0.5                        | applied | "1.5"
			-                         | HSETNX k f v                             | applied | 1
			HSET k f v                | HSETNX k f w                             | noop    | 0
			HSET k f 1                | HINCRBYFLOAT k f 0.5                     | applied | "1.5"
			SET k v                   | PEXPIRE k 60000                          | applied | 1
			-                         | PEXPIRE k 60000                          | noop    | 0
			SET k v                   | EXPIREAT k 33177117420                   | applied | 1
			SET k v                   | PEXPIREAT k 33177117420000 XX            | noop    | 0
			SET k v                   | COPY k l                                 | applied | 1
			-                         | COPY k l                                 | noop    | 0
			SET k v                   | COPY k l REPLACE                         | applied | 1
			SET k v                   | RENAME k l                               | applied | "OK"
			RPUSH k a b               | LMOVE k l RIGHT LEFT                     | applied | "b"
			-                         | LMOVE k l RIGHT LEFT                     | noop    | null
			SADD k a                  | SMOVE k l a                              | applied | 1
			SADD k a                  | SMOVE k l b                              | noop    | 0
			ZADD k 1 a                | ZINCRBY k 0.5 a                          | applied | 1.5
			XADD k 1-1 f v            | XTRIM k MAXLEN 0                         | applied | 1
			-                         | HSETEX k EX 60 FIELDS 1 f v              | applied | 1
			HSET k f v                | HSETEX k FNX FIELDS 1 f v                | applied | 0
			HSET k f v                | HEXPIRE k 60 FIELDS 2 f g                | applied | [1,-2]
			-                         | HEXPIRE k 60 FIELDS 1 f                  | applied | [-2]
			SET k v                   | DELIFEQ k v                              | applied | 1
			SET k v                   | DELIFEQ k w                              | applied | 0
			-                         | VADD k VALUES 2 1 2 e                    | applied | true
			VADD k VALUES 2 1 2 e     | VADD k VALUES 2 1 2 e                    | applied | false
			""")
	void aReplyTellsTheOutcome(String before, String command, String outcome, String reply) {
		TestRedis.shared().assumeKnown(command.split(" ", -1)[0]);
		if (!before.equals("-")) {
			send(before);
		}
		JsonNode item = this.service.ndjson("/v1/jobs?results=all", array(command)).report().at("/items/0");
		assertThat(item.at("/status").asString()).isEqualTo(outcome);
		assertThat(item.has("reply")).isTrue();
		assertThat(item.get("reply").toString()).isEqualTo(reply);
		assertThat(item.at("/op").asString()).isEqualTo(command.split(" ", -1)[0]);
		assertThat(item.at("/key").asString()).isEqualTo(command.split(" ", -1)[1]);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			MSETEX 2 k v l w EX 60 | 1 | 2
			MSETEX 2 k v l w NX    | 1 | 2
			MSETEX 2 k v l w XX    | 0 | 0
			""")
	void severalKeysAreSetInOneRecord(String command, int reply, long keys) {
		TestRedis.shared().assumeKnown("MSETEX");
		String object = array(command).replace("[\"MSETEX\",", "{\"op\":\"MSETEX\",\"args\":[") + "}";
		JsonNode report = this.service.ndjson("/v1/jobs?results=all&concurrency=4", array(command)).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(report.at("/items/0/key").asString()).isEqualTo("k");
		assertThat(report.at("/items/0/reply").asInt()).isEqualTo(reply);
		assertThat(this.redis.dbsize()).isEqualTo(keys);
		assertThat(Answer.counts(this.service.ndjson("/v1/jobs", object).report()).applied()).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "MSETEX 2 a v pipeset:x w", "COPY a pipeset:x", "LMOVE a pipeset:x LEFT LEFT",
			"RENAME a pipeset:x", "SMOVE a pipeset:x m", "JSON.MSET a $ 1 pipeset:x $ 2", "TS.MADD a 1 2 pipeset:x 3 4",
			"GETDEL pipeset:x" })
	void noKeyOfARecordIsTheServicesOwn(String command) {
		JsonNode report = this.service.ndjson("/v1/jobs", array(command), array("SET a v")).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("FORBIDDEN");
	}

	@ParameterizedTest
	@ValueSource(strings = { "MSETEX 1 k v", "HSETEX k FIELDS 1 f v", "HEXPIRE k 10 FIELDS 1 f", "DELIFEQ k v",
			"JSON.SET k $ 1", "JSON.MSET k $ 1", "VADD k VALUES 2 1 2 e", "TS.MADD k 1 2" })
	void aCommandThatTheServerLacksIsRefusedByItself(String command) {
		String name = command.split(" ", -1)[0];
		assumeFalse(TestRedis.shared().knows(name), "skipped: the server has " + name);
		for (String settings : new String[] { "", "?concurrency=4", "?coalesce=off" }) {
			JsonNode report = this.service
				.ndjson("/v1/jobs" + settings, array("SET a v"), array(command), array("SET b v"), array(command))
				.report();
			assertThat(Answer.counts(report)).isEqualTo(new Counts(4, 2, 0, 2, 0, 0));
			report.get("items").forEach((item) -> {
				assertThat(item.at("/op").asString()).isEqualTo(name);
				assertThat(item.at("/key").asString()).isEqualTo("k");
				assertThat(item.at("/error/code").asString()).isEqualTo("ERR");
				assertThat(item.at("/error/message").asString()).containsIgnoringCase("unknown command");
			});
			assertThat(this.redis.dbsize()).isEqualTo(2);
		}
	}

	@Test
	void aRecordOfSeveralKeysKeepsItsPlaceAmongTheirRecords() {
		String[] records = Stream
			.of("SET a 1", "SET b 2", "COPY a b REPLACE", "SET a 3", "APPEND b x", "RENAME a c", "SET a 4",
					"RPUSH l 1 2", "LMOVE l m RIGHT LEFT", "RPUSH l 3", "LPUSH m 0", "SADD s x", "SMOVE s t x",
					"SADD s x")
			.map(OperationTests::array)
			.toArray(String[]::new);
		JsonNode report = this.service.ndjson("/v1/jobs?concurrency=8", records).report();
		assertThat(Answer.counts(report).applied()).isEqualTo(records.length);
		assertThat(this.redis.mget("a", "b", "c").stream().map((value) -> value.getValue())).containsExactly("4", "1x",
				"3");
		assertThat(this.redis.lrange("l", 0, -1)).containsExactly("1", "3");
		assertThat(this.redis.lrange("m", 0, -1)).containsExactly("0", "2");
		assertThat(this.redis.smembers("s")).containsExactly("x");
		assertThat(this.redis.smembers("t")).containsExactly("x");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "?concurrency=4", "?coalesce=off", "?results=none", "?atomic=batch" })
	void whatSetnxFindsIsANoop(String settings) {
		JsonNode report = this.service
			.ndjson("/v1/jobs" + settings, array("SETNX a 1"), array("SETNX a 2"), array("SET b 1"), array("SETNX b 2"),
					array("SADD s m"), array("SETNX s x"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(6, 3, 3, 0, 0, 0));
		assertThat(this.redis.mget("a", "b").stream().map((value) -> value.getValue())).containsExactly("1", "1");
	}

	@Test
	void restoreBringsADumpBack() {
		this.redis.rpush("k", "x", "y");
		String dump = Base64.getEncoder().encodeToString(this.redis.dump("k"));
		String record = "{\"op\":\"RESTORE\",\"key\":\"bA==\",\"encoding\":\"base64\",\"args\":[\"MA==\",\"" + dump
				+ "\"]}";
		JsonNode report = this.service.ndjson("/v1/jobs", record, record).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		assertThat(report.at("/errorCodes/BUSYKEY").asInt()).isOne();
		assertThat(this.redis.lrange("l", 0, -1)).containsExactly("x", "y");
	}

	@Test
	void whatGetdelTakesIsListed() {
		this.redis.set("k", "the value");
		JsonNode report = this.service.ndjson("/v1/jobs", array("GETDEL k"), array("GETDEL k"), array("SET k v"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 2, 1, 0, 0, 0));
		assertThat(report.get("items")).hasSize(1);
		assertThat(report.at("/items/0/reply").asString()).isEqualTo("the value");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					SET k v    | HSET k f v, HDEL k f, RPOP k, LPOP k 2, LPUSH k a, RPUSH k a, SADD k a, SREM k a, ZADD k 1 a, ZREM k a, XADD k * f v, HINCRBY k f 1, GEOADD k 1 1 a | WRONGTYPE
					HSET k f v | SET k v GET, INCRBY k 1, SETBIT k 1 1, PFADD k a | WRONGTYPE
					SET k v    | INCRBY k 1 | ERR
					SET k v    | PFADD k a  | WRONGTYPE
					SET k v    | HSETNX k f v, LMOVE k l LEFT LEFT, SMOVE k l m, ZINCRBY k 1 a, XTRIM k MAXLEN 1, HINCRBYFLOAT k f 1 | WRONGTYPE
					HSET k f v | APPEND k v, SETRANGE k 0 v, GETDEL k, INCRBYFLOAT k 1 | WRONGTYPE
					SET k v    | INCRBYFLOAT k 1, INCRBYFLOAT l x, RENAME l m, COPY k k | ERR
					HSET k f v | HINCRBY k f 1, ZADD l x a, GEOADD l 500 1 a, XADD l 0-0 f v | ERR
					""")
	void whatRedisRefusesIsRejectedWithItsCode(String before, String commands, String code) {
		send(before);
		byte[] data = this.redis.dump("k");
		String[] lines = Stream.of(commands.split(", *")).map(OperationTests::array).toArray(String[]::new);
		JsonNode report = this.service.ndjson("/v1/jobs", lines).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(lines.length, 0, 0, lines.length, 0, 0));
		report.get("items").forEach((item) -> assertThat(item.at("/error/code").asString()).isEqualTo(code));
		assertThat(this.redis.dump("k")).isEqualTo(data);
		assertThat(this.redis.dbsize()).isOne();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			{"op":"SADD","key":"k","args":["a",1,true]}                  | SADD k a 1 true
			{"op":"sadd","args":["a"],"key":"k"}                         | SADD k a
			{"op":"PERSIST","key":"k"}                                   | PERSIST k
			{"op":"UNLINK","key":"k","args":["l"]}                       | UNLINK k l
			{"op":"ZADD","key":"k","args":["GT",1.5,"m"]}                | ZADD k GT 1.5 m
			{"op":"RPUSH","key":"k","value":{"a": 1}}                    | RPUSH k {"a":1}
			{"op":"SET","key":"k","args":["v","NX","GET"]}               | SET k v NX GET
			{"op":"EXPIRE","key":"k","args":[60]}                        | EXPIRE k 60
			{"op":"XADD","key":"k","args":["5-5","f","v"]}               | XADD k 5-5 f v
			""")
	void anObjectSpellsTheSameCommand(String object, String command) {
		this.service.ndjson("/v1/jobs", object).report();
		byte[] data = this.redis.dump("k");
		this.redis.flushall();
		send(command);
		assertThat(this.redis.dump("k")).isEqualTo(data);
	}

	@Test
	void aPopFromTheLeftBringsItsValues() {
		this.redis.rpush("queue", "1", "2", "3", "4");
		JsonNode report = this.service
			.ndjson("/v1/jobs", "{\"op\":\"LPOP\",\"key\":\"queue\",\"count\":3}",
					"{\"op\":\"LPOP\",\"key\":\"queue\"}")
			.report();
		assertThat(Answer.strings(report.at("/items/0/reply"))).containsExactly("1", "2", "3");
		assertThat(report.at("/items/1/reply").asString()).isEqualTo("4");
	}

	@ParameterizedTest
	@ValueSource(strings = { "LPOP", "RPOP" })
	void aPopOfMoreThanOneJobMayTakeIsNotSent(String pop) {
		this.redis.rpush("queue", "1", "2", "3");
		String detail = this.service
			.ndjson("/v1/jobs", "[\"" + pop + "\",\"queue\"]", "[\"" + pop + "\",\"queue\",9223372036854775807]")
			.problem(422, "stopped")
			.at("/detail")
			.asString();
		assertThat(detail).startsWith(pop).contains("pipeset.limits.max-popped=100000");
		assertThat(this.redis.llen("queue")).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "FLUSHALL", "fLuShAlL", "KEYS", "CONFIG", "BLPOP", "MULTI", "SELECT", "SUBSCRIBE", "EVAL",
			"eVaL", "FCALL", "SCRIPT", "GET", "JSON_SET", "set\\u0020" })
	void whatIsNotInTheTableIsRefusedInEveryForm(String name) {
		this.redis.set("stays", "1");
		String array = "[\"" + name + "\",\"stays\",\"x\"]";
		String object = "{\"op\":\"" + name + "\",\"key\":\"stays\",\"args\":[\"x\"]}";
		for (Answer answer : new Answer[] { this.service.ndjson("/v1/jobs", array, object),
				this.service.post("/v1/jobs", Service.JSON, "[" + array + "," + object + "]") }) {
			JsonNode report = answer.report();
			assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 0, 0, 2, 0, 0));
			report.get("items")
				.forEach((item) -> assertThat(item.at("/error/code").asString()).isEqualTo("UNKNOWN_OPERATION"));
		}
		assertThat(this.redis.keys("*")).containsExactly("stays");
		assertThat(this.redis.ttl("stays")).isEqualTo(-1);
	}

	private static void send(String command) {
		try {
			TestRedis.shared().send(command.split(" "));
		}
		catch (RedisCommandExecutionException ex) {
			throw new IllegalArgumentException(command, ex);
		}
	}

	private static String array(String command) {
		return Stream.of(command.split(" "))
			.map((word) -> "\"" + word.replace("\"", "\\\"") + "\"")
			.collect(Collectors.joining(",", "[", "]"));
	}

}
