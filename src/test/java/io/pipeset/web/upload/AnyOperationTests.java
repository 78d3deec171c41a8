package io.pipeset.web.upload;

import java.util.List;
import java.util.Locale;

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

/** Records may have any command that writes, as the server describes it. */
@ServiceTest(properties = "pipeset.limits.max-popped=100")
class AnyOperationTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	AnyOperationTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
		this.redis.sadd("set", "a", "b", "c");
		this.redis.rpush("list", "a", "b", "c");
		this.redis.zadd("zset", 1, "a");
		this.redis.zadd("zset", 2, "b");
		this.redis.set("string", "1");
		this.redis.xadd("stream", "a", "b");
		this.redis.pfadd("hll", "a");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			LSET list 0 x                | "OK"
			ltrim list 0 1               | "OK"
			LINSERT list BEFORE a y      | 4
			ZREMRANGEBYSCORE zset 0 1    | 1
			ZPOPMIN zset                 | ["a",1.0]
			BITFIELD bits SET u8 0 255   | [0]
			PFMERGE all hll              | "OK"
			XSETID stream 9999999999999-1 | "OK"
			XGROUP CREATE stream g1 $    | "OK"
			xgroup setid stream none 0   | NOGROUP
			GETEX string EX 100          | "1"
			RPOPLPUSH list other         | "c"
			SDIFFSTORE diff set none     | 3
			BITOP NOT dest string        | 1
			SPOP none                    | null
			""")
	void aCommandThatWritesRuns(String line, String reply) {
		JsonNode report = this.service.post("/v1/jobs?results=all", "text/plain", line).report();
		JsonNode item = report.at("/items/0");
		if (reply.equals("NOGROUP")) {
			assertThat(item.at("/error/code").asString()).isEqualTo(reply);
		}
		else {
			assertThat(Answer.counts(report)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
			assertThat(item.path("reply")).hasToString(reply);
		}
		String name = (line.toUpperCase(Locale.ROOT).startsWith("XGROUP"))
				? line.toUpperCase(Locale.ROOT).replaceAll(" STREAM.*", "")
				: line.toUpperCase(Locale.ROOT).replaceAll(" .*", "");
		assertThat(item.get("op").asString()).isEqualTo(name);
	}

	@ParameterizedTest
	@ValueSource(strings = { "FLUSHALL", "KEYS *", "CONFIG SET maxmemory 1", "BLPOP list 0", "SUBSCRIBE c",
			"EVAL return 0", "EXPIRETIME string", "SORT list STORE l2", "MOVE string 1", "XGROUP HELP", "XGROUP NONE s",
			"XGROUP", "GET string", "NONE a b", "MIGRATE h 1 string 0 1" })
	void anythingElseIsNoOperation(String line) {
		for (String type : List.of("text/plain", Service.NDJSON)) {
			String body = (type.equals("text/plain")) ? line : "[\"" + line.replace(" ", "\",\"") + "\"]";
			JsonNode report = this.service.post("/v1/jobs", type, body).report();
			assertThat(report.at("/items/0/error/code").asString()).as(type).isEqualTo("UNKNOWN_OPERATION");
			assertThat(report.at("/items/0/error/message").asString()).startsWith("operation '").hasSizeLessThan(250);
		}
		assertThat(this.redis.exists("set", "list", "zset", "string")).isEqualTo(4);
	}

	@Test
	void allFormatsHaveThem() {
		String resp = "*2\r\n$4\r\nSPOP\r\n$3\r\nset\r\n";
		assertThat(poppedBy("application/x-redis-resp", resp)).isIn("a", "b", "c");
		assertThat(poppedBy("text/csv", "op,key\nSPOP,set\n")).isIn("a", "b", "c");
		assertThat(poppedBy(Service.NDJSON, "{\"op\":\"spop\",\"key\":\"set\"}")).isIn("a", "b", "c");
		assertThat(this.redis.exists("set")).isZero();
		Answer templates = this.service.post("/v1/jobs?op=LSET&key=list&args=%7Bi%7D&args=%7Bv%7D", "text/csv",
				"i,v\n0,x\n1,y\n");
		assertThat(Answer.counts(templates.report())).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(this.redis.lrange("list", 0, -1)).containsExactly("x", "y", "c");
	}

	private String poppedBy(String type, String body) {
		return this.service.post("/v1/jobs", type, body).report().at("/items/0/reply").asString();
	}

	@Test
	void stringsInRepliesAreListedWithinTheLimitOfValues() {
		String[] members = new String[300];
		for (int i = 0; i < members.length; i++) {
			members[i] = "m" + i;
		}
		this.redis.sadd("large", members);
		String pops = "SPOP large\n".repeat(200);
		JsonNode job = this.service.post("/v1/jobs", "text/plain", pops).job(422, "stopped", "stopped");
		assertThat(job.at("/counts/applied").asInt()).isEqualTo(100);
		assertThat(job.get("items").size()).isEqualTo(100);
		this.service.post("/v1/jobs", "text/plain", "SPOP large 101").job(422, "stopped", "stopped");
		JsonNode unlisted = this.service.post("/v1/jobs?results=none", "text/plain", pops).report();
		assertThat(unlisted.at("/counts/applied").asInt()).isEqualTo(200);
		assertThat(unlisted.get("items").isEmpty()).isTrue();
	}

	@Test
	void keysOfTheServiceAreItsOwn() {
		JsonNode report = this.service.post("/v1/jobs", "text/plain", """
				SDIFFSTORE pipeset:x set none
				RPOPLPUSH list pipeset:y
				BITOP NOT dest pipeset:z
				XGROUP CREATE pipeset:s g $ MKSTREAM
				""").report();
		assertThat(report.at("/errorCodes/FORBIDDEN").asInt()).isEqualTo(4);
		assertThat(this.redis.keys("pipeset:x*")).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "STE", "FLUSHALL", "XGROUP", "GET" })
	void aRequestThatNamesNoneIsRefused(String op) {
		assertThat(this.service.ndjson("/v1/jobs?op=" + op, "[]").refusal(400, "invalid-setting")).startsWith("'op' ")
			.hasSizeLessThan(300);
	}

	@Test
	void aSubcommandIsNamedByTwoWordsAndNotByOne() {
		JsonNode report = this.service
			.ndjson("/v1/jobs", "[\"XGROUP CREATE\",\"SETID\",\"stream\",\"g\",\"0\"]",
					"{\"op\":\"XGROUP CREATE\",\"key\":\"SETID\",\"args\":[\"stream\",\"g\",\"0\"]}")
			.report();
		assertThat(report.at("/errorCodes/UNKNOWN_OPERATION").asInt()).isEqualTo(2);
		this.service.ndjson("/v1/jobs?op=XGROUP%20CREATE", "[]").refusal(400, "invalid-setting");
	}

	@Test
	void anUnknownNameIsToldWithTheNearestThatTheServerHas() {
		JsonNode report = this.service.post("/v1/jobs", "text/plain", "LTRIMM list 0 1\n\u017fPOP set\n").report();
		assertThat(report.at("/items/0/error/message").asString()).endsWith("the nearest supported one is LTRIM");
		assertThat(report.at("/errorCodes/UNKNOWN_OPERATION").asInt()).isEqualTo(2);
		assertThat(this.redis.scard("set")).isEqualTo(3);
	}

	@Test
	void theNameInACommandMayStandInQuotes() {
		JsonNode report = this.service.post(
				"/v1/jobs?command=%22ltrim%22%20%7Bk%7D%200%200&command=%22XGROUP%22%20%22create%22%20stream%20%7Bk%7D%20$",
				"text/csv", "k\nlist\n")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(this.service.post("/v1/jobs?command=%7Bop%7D%20x", "text/csv", "op\nDEL\n")
			.refusal(400, "invalid-setting")).contains("which no row can change, not with '{op}'");
	}

	@Test
	void aCountBeyondAllBoundsTakesNothing() {
		for (String count : List.of("101", "4611686018427387904", "9223372036854775807")) {
			this.service.post("/v1/jobs", "text/plain", "ZPOPMIN zset " + count).job(422, "stopped", "stopped");
			this.service.post("/v1/jobs", "text/plain", "SPOP set " + count).job(422, "stopped", "stopped");
		}
		assertThat(this.redis.zcard("zset") + this.redis.scard("set")).isEqualTo(5);
	}

	@Test
	void theNumberOfArgumentsIsTheServers() {
		JsonNode report = this.service.post("/v1/jobs", "text/plain", "LSET list 0\nLSET list 0 x y\n").report();
		assertThat(report.at("/errorCodes/MALFORMED").asInt()).isEqualTo(2);
		assertThat(report.at("/items/0/error/message").asString()).isEqualTo("LSET takes 3 arguments, not 2");
	}

}
