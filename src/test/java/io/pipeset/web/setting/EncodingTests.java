package io.pipeset.web.setting;

import java.util.List;

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
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Bytes that are no text are sent and answered as Base64, if the caller asks for that.
 */
@ServiceTest
class EncodingTests {

	private static final String BINARY = "//4AAQ==";

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	EncodingTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			/v1/jobs?encoding=base64 | {"op":"SET","key":"aw==","value":"//4AAQ=="}
			/v1/jobs?encoding=base64 | ["SET","aw==","//4AAQ==","RVg=",60]
			/v1/jobs                 | {"op":"SET","key":"aw==","value":"//4AAQ==","encoding":"base64"}
			/v1/jobs                 | {"encoding":"base64","op":"SET","key":"aw==","args":["//4AAQ=="]}
			/v1/jobs?encoding=base64 | {"op":"HSET","key":"aDE=","fields":{"Zg==":"//4AAQ=="}}
			/v1/jobs?encoding=base64 | {"op":"LPUSH","key":"bA==","value":"//4AAQ=="}
			""")
	void stringsOfABodyStandForBytes(String path, String record) {
		assertThat(Answer.counts(this.service.ndjson(path, record).report())).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(isBinary()).isTrue();
	}

	private boolean isBinary() {
		return eval("""
				local k = redis.call('KEYS', '*')[1]
				local v = k == 'k' and redis.call('GET', k) or k == 'h1' and redis.call('HGET', k, 'f')
				  or redis.call('LINDEX', k, 0)
				return v == '\\255\\254\\0\\1'
				""");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			text/csv                 | /v1/jobs?op=SET&encoding=base64  | key,value,ttl\\naw==,//4AAQ==,60\\n
			text/csv                 | /v1/jobs?encoding=base64         | op,key,arg1\\nlpush,bA==,//4AAQ==\\n
			text/csv                 | /v1/jobs?op=HSET&encoding=base64 | key,Zg==\\naDE=,//4AAQ==\\naDE=,//4AAQ==\\n
			text/plain               | /v1/jobs?encoding=base64         | SET k "\\xff\\xfe\\x00\\x01"
			""")
	void csvHasBase64AndTextHasBytesOfItsOwn(String type, String path, String body) {
		this.service.post(path, type, body.replace("\\n", "\n")).report();
		assertThat(isBinary()).isTrue();
	}

	@Test
	void aRecordsOwnEncodingWins() {
		this.service
			.ndjson("/v1/jobs?encoding=base64",
					"{\"op\":\"SET\",\"key\":\"k\",\"value\":\"plain\",\"encoding\":\"utf8\"}", "[\"SET\",\"Mg==\",5]")
			.report();
		assertThat(this.redis.get("k")).isEqualTo("plain");
		assertThat(this.redis.get("2")).isEqualTo("5");
	}

	@Test
	void aStringThatIsNoBase64IsOneMalformedRecord() {
		JsonNode report = this.service
			.ndjson("/v1/jobs?encoding=base64", "[\"SET\",\"aw==\",\"?\"]", "[\"SET\",\"aw==\",\"dg==\"]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("MALFORMED");
		assertThat(report.at("/items/0/error/message").asString()).contains("'?'").contains("Base64");
		assertThat(report.at("/items/0/key").asString()).isEqualTo("aw==");
		assertThat(this.redis.get("k")).isEqualTo("v");
	}

	@Test
	void repliesAndKeysOfAReportAreAsTheBodyHasThem() {
		eval("redis.call('SET', 'k', '\\255\\254\\0\\1') redis.call('RPUSH', 'l', 'a', '\\255\\254\\0\\1') return 1");
		List<String> records = List.of("[\"SET\",\"aw==\",\"dg==\",\"R0VU\"]", "[\"SET\",\"aw==\",\"dg==\"]",
				"[\"LPOP\",\"bA==\",2]", "[\"SADD\",\"cw==\",1]");
		JsonNode items = this.service.ndjson("/v1/jobs?encoding=base64&results=all", records.toArray(String[]::new))
			.report()
			.get("items");
		assertThat(items.at("/0/reply").asString()).isEqualTo(BINARY);
		assertThat(items.at("/0/key").asString()).isEqualTo("aw==");
		assertThat(items.at("/1/reply").asString()).as("a status is no string of bytes").isEqualTo("OK");
		assertThat(Answer.strings(items.at("/2/reply"))).containsExactly("YQ==", BINARY);
		assertThat(items.at("/3/reply").asInt()).isOne();
	}

	@Test
	void piperpopAnswersAsAsked() {
		eval("redis.call('RPUSH', 'mylist9', 'a', '\\255\\254\\0\\1') return 1");
		assertThat(Answer.strings(this.service.post("/piperpop/2?encoding=base64").report().get("values")))
			.containsExactly(BINARY, "YQ==");
	}

	private boolean eval(String script) {
		Boolean answer = this.redis.eval(script, ScriptOutputType.BOOLEAN, new String[0]);
		return answer;
	}

}
