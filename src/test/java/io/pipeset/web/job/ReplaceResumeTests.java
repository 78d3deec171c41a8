package io.pipeset.web.job;

import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A removal whose process ended in the middle begins again in the next process. */
@ProcessTest
class ReplaceResumeTests {

	private static final int RECORDS = 300;

	private static final int OLD = 3000;

	private static TestRedis redis;

	@TempDir
	Path spool;

	@BeforeAll
	static void startRedis() {
		redis = TestRedis.start();
	}

	@AfterAll
	static void endRedis() {
		redis.close();
	}

	@BeforeEach
	void addOldKeys() {
		redis.client().flushall();
		redis.client().mset(IntStream.range(0, OLD).boxed().collect(Collectors.toMap((i) -> "k:old" + i, (i) -> "v")));
		redis.client().set("other", "v");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void theNextProcessEndsTheRemoval(boolean killed) throws Exception {
		String location;
		try (ServiceProcess process = start()) {
			location = load(process.service());
			await().until(() -> process.service().get(location).json().at("/replaced/removed").asInt() > 0);
			if (killed) {
				process.kill();
			}
			else {
				process.terminate();
				process.awaitEnd();
			}
		}
		assertThat(redis.client().dbsize()).isBetween(RECORDS + 2L, RECORDS + OLD - 1L);
		try (ServiceProcess next = start()) {
			await().untilAsserted(() -> assertThat(next.service().get(location).json().at("/state").asString())
				.isEqualTo("completed"));
			JsonNode job = next.service().get(location).json();
			assertThat(Answer.counts(job)).isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
			assertThat(job.at("/replaced/kept").asInt()).isEqualTo(RECORDS);
			assertThat(job.at("/replaced/removed").asInt()).isBetween(1, OLD - 1);
			assertThat(job.at("/warnings/0/code").asString()).isEqualTo("REMOVED_EARLIER");
		}
		assertThat(redis.client().dbsize()).isEqualTo(RECORDS + 1);
		assertThat(redis.client().keys("k:new*")).hasSize(RECORDS);
	}

	@Test
	void aJobThatIsCancelledSaysThatKeysAreGone() throws Exception {
		String location = killInTheMiddle();
		try (ServiceProcess next = start("manual")) {
			assertThat(next.service().delete(location).status()).isEqualTo(202);
			JsonNode job = next.service().get(location).json();
			assertThat(job.at("/state").asString()).isEqualTo("cancelled");
			assertThat(job.at("/warnings/0/code").asString()).isEqualTo("REMOVED_EARLIER");
			assertThat(job.at("/warnings/0/detail").asString()).contains("replace=k:*", "send all records again");
		}
	}

	@Test
	void nothingIsRemovedIfRedisWasRestarted() throws Exception {
		String location = killInTheMiddle();
		redis.kill();
		redis.restart();
		redis.client().set("k:old", "v");
		try (ServiceProcess next = start()) {
			await().untilAsserted(() -> assertThat(next.service().get(location).json().at("/state").asString())
				.isEqualTo("completed"));
			JsonNode job = next.service().get(location).json();
			assertThat(job.at("/warnings").findValuesAsString("code")).containsExactly("REMOVED_EARLIER",
					"NOT_REPLACED");
			assertThat(job.at("/warnings/1/detail").asString()).contains("was restarted");
			assertThat(redis.client().exists("k:old")).isOne();
		}
	}

	private String killInTheMiddle() throws Exception {
		try (ServiceProcess process = start()) {
			String location = load(process.service());
			await().until(() -> process.service().get(location).json().at("/replaced/removed").asInt() > 0);
			process.kill();
			return location;
		}
	}

	private ServiceProcess start() throws Exception {
		return start("auto");
	}

	private ServiceProcess start(String resume) throws Exception {
		return ServiceProcess.start(redis, "--pipeset.spool.directory=" + this.spool, "--pipeset.jobs.resume=" + resume,
				"--pipeset.limits.shutdown-grace=1s");
	}

	private static String load(Service service) {
		String body = IntStream.range(0, RECORDS)
			.mapToObj((i) -> "[\"SET\",\"k:new" + i + "\",\"v\"]\n")
			.collect(Collectors.joining());
		Answer answer = service.send(service.request("/v1/jobs?replace=k:*&rateLimit=1000&batchSize=50")
			.header("Prefer", "respond-async")
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString(body)));
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return answer.header("Location");
	}

}
