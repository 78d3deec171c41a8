package io.pipeset.web.record;

import java.util.Comparator;
import java.util.List;

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

/** The four shortcuts generate exactly the records that they promise. */
@ServiceTest
class ShortcutTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ShortcutTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void pipesetSetsTheGeneratedKeys() {
		JsonNode report = this.service.post("/pipeset/100").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
		assertThat(this.redis.dbsize()).isEqualTo(100);
		for (int i = 0; i < 100; i++) {
			assertThat(this.redis.get("keyA%05d".formatted(i))).isEqualTo("value-%05d".formatted(i));
		}
	}

	@Test
	void pipehsetWritesTheGeneratedHashes() {
		JsonNode report = this.service.post("/pipehset/100").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
		assertThat(this.redis.dbsize()).isEqualTo(100);
		for (int i = 0; i < 100; i++) {
			assertThat(this.redis.hgetall("hashA%05d".formatted(i))).containsOnly(entry("id", Integer.toString(i)),
					entry("value", "value-%05d".formatted(i)));
		}
	}

	@ParameterizedTest
	@CsvSource({ "/pipeset/100001, keyA", "/pipehset/100001, hashA" })
	void numbersOfMoreThanFiveDigitsWiden(String path, String prefix) {
		assertThat(Answer.counts(this.service.post(path).report())).isEqualTo(new Counts(100_001, 100_001, 0, 0, 0, 0));
		assertThat(this.redis.dbsize()).isEqualTo(100_001);
		assertThat(this.redis.exists(prefix + "00000", prefix + "99999", prefix + "100000")).isEqualTo(3);
		assertThat(this.redis.exists(prefix + "100001", prefix + "000000")).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/0", "/pipehset/0", "/piperpop/0", "/listinput/mylist9?count=0" })
	void zeroIsAValidAndEmptyJob(String path) {
		this.redis.lpush("mylist9", "stays");
		JsonNode report = this.service.post(path).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(0, 0, 0, 0, 0, 0));
		assertThat(this.redis.dbsize()).isOne();
		assertThat(this.redis.llen("mylist9")).isOne();
	}

	@Test
	void listinputPushesAHundredValuesUnlessToldOtherwise() {
		assertThat(Answer.counts(this.service.post("/listinput/list").report()))
			.isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
		assertThat(this.redis.lrange("list", 0, -1)).isSortedAccordingTo(Comparator.reverseOrder())
			.containsExactlyInAnyOrderElementsOf(Service.generated(0, 100));
	}

	@Test
	void listinputPushesAsManyValuesAsAsked() {
		this.service.post("/listinput/list?count=7").report();
		assertThat(this.redis.lrange("list", 0, -1)).containsExactly("value-00006", "value-00005", "value-00004",
				"value-00003", "value-00002", "value-00001", "value-00000");
	}

	@Test
	void piperpopTakesWhatThereIsInTheOrderItWasPushed() {
		this.service.post("/listinput/mylist9?count=60").report();
		JsonNode report = this.service.post("/piperpop/100").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(100, 60, 40, 0, 0, 0));
		assertThat(Answer.strings(report.get("values"))).isEqualTo(Service.generated(0, 60));
		assertThat(report.get("items")).isEmpty();
		assertThat(this.redis.exists("mylist9")).isZero();
	}

	@Test
	void piperpopLeavesWhatItIsNotAskedFor() {
		this.service.post("/listinput/mylist9?count=60").report();
		JsonNode report = this.service.post("/piperpop/10").report();
		assertThat(Answer.strings(report.get("values"))).isEqualTo(Service.generated(0, 10));
		assertThat(this.redis.llen("mylist9")).isEqualTo(50);
	}

	@Test
	void piperpopPopsFromTheKeyItIsGiven() {
		this.service.post("/listinput/mylist9?count=5").report();
		this.service.post("/listinput/other?count=5").report();
		JsonNode report = this.service.post("/piperpop/3?key=other").report();
		assertThat(Answer.strings(report.get("values"))).isEqualTo(Service.generated(0, 3));
		assertThat(this.redis.llen("other")).isEqualTo(2);
		assertThat(this.redis.llen("mylist9")).isEqualTo(5);
	}

	@ParameterizedTest
	@ValueSource(strings = { "errors", "all", "none" })
	void poppedValuesAreInTheReportWhateverResultsSays(String results) {
		this.service.post("/listinput/mylist9?count=2000").report();
		JsonNode report = this.service.post("/piperpop/2000?results=" + results).report();
		assertThat(Answer.strings(report.get("values"))).isEqualTo(Service.generated(0, 2000));
	}

	@Test
	void poppedValuesKeepTheirOrderWhateverTheConcurrency() {
		this.service.post("/listinput/mylist9?count=5000").report();
		JsonNode report = this.service.post("/piperpop/5000?concurrency=8&batchSize=7&flush=buffered:3").report();
		assertThat(Answer.strings(report.get("values"))).isEqualTo(Service.generated(0, 5000));
	}

	@Test
	void piperpopOfAKeyThatIsNoListIsRejectedAndLeavesIt() {
		this.redis.set("mylist9", "a string");
		JsonNode report = this.service.post("/piperpop/3").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 0, 0, 3, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("WRONGTYPE");
		assertThat(this.redis.get("mylist9")).isEqualTo("a string");
	}

	@ParameterizedTest
	@CsvSource({ "sp%20ace, sp ace", "schl%C3%BCssel, schlüssel", "a:b, a:b", "a+b, a+b", "%3F, ?" })
	void aKeyInThePathIsDecoded(String path, String key) {
		this.service.post("/listinput/" + path + "?count=2").report();
		assertThat(this.redis.keys("*")).containsExactly(key);
	}

	@Test
	void aKeyInTheQueryIsDecoded() {
		this.redis.lpush("a/b;ü%", "value");
		JsonNode report = this.service.post("/piperpop/1?key=a%2Fb%3B%C3%BC%25").report();
		assertThat(Answer.strings(report.get("values"))).containsExactly("value");
	}

	@ParameterizedTest
	@ValueSource(strings = { "a%2Fb", "a%2fb", "a;b", "a%3Bb", "a%25b", "%2F", "a/b", ";b", ";", "%3B" })
	void aKeyThatAPathCannotCarryIsRefusedWithTheWayOut(String key) {
		String detail = this.service.post("/listinput/" + key + "?count=3").refusal(400, "invalid-key");
		assertThat(detail).contains("/v1/jobs").contains("LPUSH");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "/pipeset/10000001, max-generated, 10000000", "/pipehset/10000001, max-generated, 10000000",
			"/piperpop/100001, max-popped, 100000", "/listinput/list?count=10000001, max-generated, 10000000" })
	void aCountBeyondTheLimitNamesLimitValueAndProperty(String path, String property, String most) {
		String detail = this.service.post(path).refusal(400, "invalid-count");
		assertThat(detail).contains("pipeset.limits." + property)
			.contains(most)
			.contains("'" + path.replaceAll(".*[/=]", "") + "'");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "abc", "-1", "1.5", "1e3", "+1", "0x10", "%20", "99999999999999999999999999" })
	void aCountThatIsNoWholeNumberIsRefused(String count) {
		for (String path : List.of("/pipeset/", "/pipehset/", "/piperpop/")) {
			assertThat(this.service.post(path + count).refusal(400, "invalid-count")).contains("'count'")
				.contains("whole number");
		}
		this.service.post("/listinput/list?count=" + count).refusal(400, "invalid-count");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/5", "/pipehset/5", "/piperpop/5", "/listinput/list" })
	void aGetIsRefusedAndWritesNothing(String path) {
		Answer answer = this.service.get(path);
		answer.refusal(405, "method-not-allowed");
		assertThat(answer.header("Allow")).isEqualTo("POST");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/piperpop/3", "/listinput/mylist9" })
	void aBodyWhereNoRecordsAreTakenIsRefused(String path) {
		this.redis.lpush("mylist9", "stays");
		assertThat(this.service.post(path, Service.NDJSON, "{\"key\":\"a\"}\n").refusal(400, "unexpected-body"))
			.contains("/v1/jobs");
		assertThat(this.redis.lrange("mylist9", 0, -1)).containsExactly("stays");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/3", "/pipehset/3" })
	void repeatingAShortcutChangesNothing(String path) {
		this.service.post(path).report();
		assertThat(Answer.counts(this.service.post(path).report())).isEqualTo(new Counts(3, 3, 0, 0, 0, 0));
		assertThat(this.redis.dbsize()).isEqualTo(3);
	}

}
