package io.pipeset.web.setting;

import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** A dry run reads and checks every record, and needs no Redis for it. */
@ServiceTest
class DryRunTests {

	private static final TestRedis redis = TestRedis.start();

	private final Service service;

	DryRunTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		redis.register(registry);
	}

	@BeforeAll
	static void noRedis() {
		redis.kill();
	}

	@AfterAll
	static void end() {
		redis.close();
	}

	@Test
	void goodRecordsAreUnprocessedAndBadOnesAreTheErrors() {
		JsonNode report = this.service
			.ndjson("/v1/jobs?dryRun=true", "[\"SET\",\"a\",1]", "[\"SET\",\"a\"]", "bad", "[\"DEL\",\"a\",\"b\"]",
					"[\"FLUSHALL\"]", "[\"RPOP\",\"a\",90000000]",
					"{\"op\":\"HSET\",\"key\":\"h\",\"fields\":{\"a\":1},\"ttl\":5}")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(7, 0, 0, 3, 0, 4));
		assertThat(report.get("items")).hasSize(3);
		assertThat(report.at("/itemsOmitted").asInt()).isZero();
		assertThat(report.at("/bytesSent").asInt()).isZero();
	}

	@Test
	void withoutABadRecordThereIsNoError() {
		Answer answer = this.service.ndjson("/v1/jobs?dryRun=true", "[\"SET\",\"a\",1]");
		assertThat(answer.report().get("errors").asBoolean()).isFalse();
		assertThat(answer.header("Pipeset-Errors")).isEqualTo("0");
	}

	@Test
	void allRecordsAreListedWhereThatIsAsked() {
		JsonNode report = this.service
			.ndjson("/v1/jobs?dryRun=true&results=all", "{\"op\":\"SET\",\"key\":\"a\",\"value\":1,\"id\":\"x\"}",
					"bad")
			.report();
		assertThat(report.at("/items/0/status").asString()).isEqualTo("unprocessed");
		assertThat(report.at("/items/0/id").asString()).isEqualTo("x");
		assertThat(report.at("/items/0/key").asString()).isEqualTo("a");
		assertThat(report.at("/items/0").has("error")).isFalse();
		assertThat(report.at("/items/1").has("command")).isFalse();
		assertThat(report.at("/wouldRun").asLong()).isOne();
		assertThat(report.at("/items/1/status").asString()).isEqualTo("rejected");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			ttl=60   | {"op":"SET","key":"é","value":{"a": [1]}}       | ["SET","é","{\\"a\\":[1]}","EX","60"]
			         | ["set","k","v","px","5000"]                     | ["SET","k","v","px","5000"]
			         | {"op":"HSET","key":"k","fields":{"a":1,"b":2}}  | ["HSET","k","a","1","b","2"]
			         | {"op":"SET","key":"aw==","value":"/w==","encoding":"base64"} | ["SET","aw==","/w=="]
			         | {"op":"RPOP","key":"q","count":3}               | ["RPOP","q","3"]
			""")
	void anItemHasTheCommandAsItWouldBeSent(String settings, String line, String command) {
		String query = "/v1/jobs?dryRun=true&results=all" + ((settings != null) ? "&" + settings : "");
		JsonNode report = this.service.ndjson(query, line, "bad").report();
		assertThat(report.at("/items/0/command").toString()).isEqualTo(command);
		assertThat(report.at("/wouldRun").asLong()).isOne();
	}

	@Test
	void aHashThatExpiresWouldBeSentAsAScript() {
		JsonNode report = this.service
			.ndjson("/v1/jobs?dryRun=true&results=all&ttl=5", "{\"op\":\"HSET\",\"key\":\"h\",\"fields\":{\"a\":1}}")
			.report();
		JsonNode command = report.at("/items/0/command");
		assertThat(command.get(0).asString()).isEqualTo("EVALSHA");
		assertThat(command.get(1).asString()).hasSize(40);
		assertThat(command.valueStream().skip(2).map(JsonNode::asString)).containsExactly("1", "h", "5", "a", "1");
		assertThat(report.at("/items/0/op").asString()).isEqualTo("HSET");
	}

	@Test
	void aMappingCanBeLookedAtBeforeItRuns() {
		JsonNode report = this.service
			.post("/v1/jobs?op=HSET&key=session:%7Bsid%7D&dryRun=true&results=all", "text/csv", "sid,a b\n17,x\n18,\n")
			.report();
		assertThat(report.at("/items/0/command").toString())
			.isEqualTo("[\"HSET\",\"session:17\",\"sid\",\"17\",\"a b\",\"x\"]");
		assertThat(report.at("/items/1/command").toString()).isEqualTo("[\"HSET\",\"session:18\",\"sid\",\"18\"]");
	}

	@Test
	void commandsAreListedAsFarAsThereIsRoomForThem() {
		String large = "[\"SET\",\"a\",\"" + "x".repeat(9_000_000) + "\"]";
		JsonNode report = this.service.ndjson("/v1/jobs?dryRun=true&results=all", large, large, "[\"SET\",\"b\",\"1\"]")
			.report();
		assertThat(report.at("/wouldRun").asLong()).isEqualTo(3);
		assertThat(report.get("items").valueStream().map((item) -> item.get("index").asInt())).containsExactly(0, 2);
		assertThat(report.at("/itemsOmitted").asInt()).isOne();
	}

	@ParameterizedTest
	@CsvSource({ "/pipeset/100000?dryRun=true, 100000", "/pipehset/7?dryRun=true&concurrency=4, 7",
			"/piperpop/20?dryRun=true, 20", "/piperpop/20?dryRun=true&reliable=true, 20",
			"/listinput/l?dryRun=true, 100", "/pipeset/0?dryRun=true, 0" })
	void aShortcutCanBeTriedToo(String path, long count) {
		JsonNode report = this.service.post(path).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(count, 0, 0, 0, 0, count));
		assertThat(report.at("/wouldRun").asLong()).isEqualTo(count);
	}

	@Test
	void whatEndsAJobBeforeItsTimeEndsADryRun() {
		JsonNode stopped = this.service
			.ndjson("/v1/jobs?dryRun=true&maxErrors=1", "[\"SET\",\"a\",1]", "bad", "bad", "[\"SET\",\"a\",1]")
			.job(422, "stopped", "stopped");
		assertThat(stopped.at("/wouldRun").asLong()).isOne();
		this.service.ndjson("/pipeset/2?dryRun=true", "{\"key\":\"a\",\"value\":1}")
			.job(422, "count-mismatch", "failed");
		this.service.post("/v1/jobs?dryRun=true", Service.JSON, "[[\"SET\",\"a\",1],")
			.job(400, "malformed-body", "failed");
	}

}
