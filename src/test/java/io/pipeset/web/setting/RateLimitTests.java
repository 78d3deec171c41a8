package io.pipeset.web.setting;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.Range;
import io.lettuce.core.StreamMessage;
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
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A job with a rate is spread over time, and holds no connection between its writes. */
@ServiceTest
class RateLimitTests {

	private static final long SLACK_MILLIS = 5;

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	RateLimitTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 4 })
	void noRecordRunsBeforeItsTime(int concurrency) {
		int records = 60;
		int rate = 100;
		long began = System.currentTimeMillis();
		JsonNode report = this.service
			.upload("/v1/jobs?rateLimit=" + rate + "&concurrency=" + concurrency, Service.NDJSON,
					Lines.of(records, (i) -> "[\"XADD\",\"stream\",\"*\",\"i\"," + i + "]"))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
		List<StreamMessage<String, String>> entries = this.redis.xrange("stream", Range.unbounded());
		for (int i = 0; i < records; i++) {
			assertThat(entries.get(i).getBody()).containsEntry("i", Integer.toString(i));
			long millis = Long.parseLong(entries.get(i).getId().replaceFirst("-.*", ""));
			assertThat(millis - began).as("entry %d", i).isGreaterThanOrEqualTo(i * 1000L / rate - SLACK_MILLIS - 1);
		}
		assertThat(report.at("/timings/waitMillis").asDouble()).isPositive();
	}

	@Test
	void generatedRecordsAreSpreadToo() {
		JsonNode report = this.service.post("/pipeset/3000?rateLimit=10000").report();
		assertThat(report.at("/timings/totalMillis").asDouble()).isGreaterThan(3000 / 10.0 - 2 * SLACK_MILLIS);
		assertThat(this.redis.dbsize()).isEqualTo(3000);
	}

	@Test
	void noConnectionIsHeldBetweenRecordsAndEachIsSentWhenItIsDue() {
		CompletableFuture<Answer> answer = this.service
			.sendAsync(this.service.request("/pipeset/1000?rateLimit=1").POST(BodyPublishers.noBody()));
		await().until(() -> this.redis.dbsize() > 0);
		await().until(() -> {
			JsonNode now = this.service.get("/actuator/pipeset").json();
			return now.at("/lanes/busy").asInt() == 0 && now.at("/jobsRunning").asInt() == 1;
		});
		await().until(() -> this.redis.dbsize() > 2);
		assertThat(this.redis.dbsize()).isLessThan(1000);
		assertThat(this.service.patch("/v1/jobs/" + this.service.awaitJob("running") + "?rateLimit=none").status())
			.isEqualTo(200);
		assertThat(Answer.counts(answer.join().report())).isEqualTo(new Counts(1000, 1000, 0, 0, 0, 0));
	}

}
