package io.pipeset.web.failover;

import io.pipeset.redis.Sentinels;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A job with {@code exactlyOnce} is finished after failovers, and what a former master
 * had not replicated is run again.
 */
@ServiceTest(properties = "pipeset.jobs.resume=auto")
class ExactlyOnceSentinelTests {

	private static final int RECORDS = 60_000;

	@RegisterExtension
	static final Sentinels sentinels = Sentinels.start();

	private final Service service;

	ExactlyOnceSentinelTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void sentinels(DynamicPropertyRegistry registry) {
		sentinels.properties().forEach((name, value) -> registry.add(name, () -> value));
	}

	@Test
	void anUploadIsFinishedAtTheNewMaster() {
		TestRedis former = sentinels.master();
		String location = this.service
			.send(this.service.uploading("/v1/jobs?exactlyOnce=true&batchSize=100&rateLimit=20000", Service.NDJSON,
					Lines.of(RECORDS, (i) -> "[\"INCR\",\"n\"]"))
				.header("Prefer", "respond-async"))
			.header("Location");
		await()
			.until(() -> Long.parseLong(String.valueOf(former.client().get("n")).replace("null", "0")) > RECORDS / 4);
		sentinels.kill(former);
		await().until(() -> this.service.get(location).json().at("/state").asString().equals("completed"));
		assertThat(Answer.counts(this.service.get(location).json()))
			.isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
		assertThat(sentinels.master().client().get("n")).isEqualTo(Integer.toString(RECORDS));
	}

}
