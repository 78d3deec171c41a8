package io.pipeset.web;

import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

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
			-                         | EXPIRE k 60                              | applied | 0
			SET k v EX 9              | EXPIRE k 60 NX                           | applied | 0
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
			""")
	void aReplyTellsTheOutcome(String before, String command, String outcome, String reply) {
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
	@CsvSource(delimiter = '|',
			textBlock = """
					SET k v    | HSET k f v, HDEL k f, RPOP k, LPOP k 2, LPUSH k a, RPUSH k a, SADD k a, SREM k a, ZADD k 1 a, ZREM k a, XADD k * f v, HINCRBY k f 1, GEOADD k 1 1 a | WRONGTYPE
					HSET k f v | SET k v GET, INCRBY k 1, SETBIT k 1 1, PFADD k a | WRONGTYPE
					SET k v    | INCRBY k 1 | ERR
					SET k v    | PFADD k a  | WRONGTYPE
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
	void aPopFromTheLeftBringsItsValuesWhateverIsListed() {
		this.redis.rpush("queue", "1", "2", "3", "4");
		JsonNode report = this.service
			.ndjson("/v1/jobs?results=none", "{\"op\":\"LPOP\",\"key\":\"queue\",\"count\":3}",
					"{\"op\":\"LPOP\",\"key\":\"queue\"}")
			.report();
		assertThat(ShortcutTests.strings(report.at("/items/0/reply"))).containsExactly("1", "2", "3");
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
			"eVaL", "FCALL", "SCRIPT", "GETDEL", "set\\u0020" })
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

	private void send(String command) {
		CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8);
		Stream.of(command.split(" ")).skip(1).forEach(args::add);
		try {
			this.redis.dispatch(CommandType.valueOf(command.split(" ", -1)[0]), new ArrayOutput<>(StringCodec.UTF8),
					args);
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
