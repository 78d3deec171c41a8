package io.pipeset.web.receipt;

import java.util.List;
import java.util.stream.IntStream;

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

/**
 * A job that pops until its list is empty ends there, and has one empty answer at most.
 */
@ServiceTest
class UntilEmptyTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	UntilEmptyTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	private List<String> fill(int values) {
		List<String> pushed = IntStream.range(0, values).mapToObj((i) -> "v" + i).toList();
		pushed.forEach((value) -> this.redis.lpush("mylist9", value));
		return pushed;
	}

	private static List<String> values(JsonNode report) {
		return report.get("values").valueStream().map(JsonNode::asString).toList();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "&results=none", "&coalesce=off", "&flush=each&concurrency=4", "&batchSize=7",
			"&atomic=batch", "&reliable=true", "&reliable=true&coalesce=off" })
	void aQueueOfFiftyIsFiftyOneRecords(String settings) {
		List<String> pushed = fill(50);
		JsonNode report = this.service.post("/piperpop/100000?until=empty" + settings).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(51, 50, 1, 0, 0, 0));
		assertThat(values(report)).isEqualTo(pushed);
		assertThat(report.at("/settings/until").asString()).isEqualTo("empty");
		assertThat(report.at("/itemsOmitted").asInt()).isZero();
		assertThat(this.redis.exists("mylist9")).isZero();
	}

	@Test
	void eachRecordIsListedWhereThatIsAsked() {
		fill(50);
		JsonNode report = this.service.post("/piperpop/100000?until=empty&results=all").report();
		assertThat(report.get("items")).hasSize(51);
		assertThat(report.at("/itemsOmitted").asInt()).isZero();
		assertThat(report.at("/items/49/status").asString()).isEqualTo("applied");
		assertThat(report.at("/items/50/status").asString()).isEqualTo("noop");
		assertThat(report.at("/items/50/index").asInt()).isEqualTo(50);
	}

	@ParameterizedTest
	@CsvSource({ "0, 5, 1, 0, 1", "5, 5, 5, 5, 0", "50, 5, 5, 5, 0", "5, 6, 6, 5, 1", "5, 0, 0, 0, 0" })
	void theCountIsTheMost(int pushed, int count, long received, long applied, long noop) {
		fill(pushed);
		JsonNode report = this.service.post("/piperpop/" + count + "?until=empty").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(received, applied, noop, 0, 0, 0));
		assertThat(this.redis.llen("mylist9")).isEqualTo(Math.max(0, pushed - count));
	}

	@Test
	void aDryRunDoesNotKnowWhereTheListEnds() {
		fill(3);
		JsonNode report = this.service.post("/piperpop/20?until=empty&dryRun=true").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(20, 0, 0, 0, 0, 20));
		assertThat(this.redis.llen("mylist9")).isEqualTo(3);
	}

	@Test
	void whatIsRefusedIsCounted() {
		this.redis.set("mylist9", "text");
		JsonNode report = this.service.post("/piperpop/3?until=empty").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 0, 0, 3, 0, 0));
	}

}
