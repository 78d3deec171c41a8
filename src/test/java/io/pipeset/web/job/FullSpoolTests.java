package io.pipeset.web.job;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A body for which the spool has no room is no job, and takes no room from others.
 */
@ServiceTest(properties = { "pipeset.spool.directory=target/spool/full", "pipeset.spool.max-bytes=100KB",
		"pipeset.limits.max-items=100000" })
class FullSpoolTests {

	private static final String LINE = "[\"SET\",\"k\",\"v\"]\n";

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	FullSpoolTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	/** Items and reports are removed for it, and the small ends of jobs stay. */
	@AfterEach
	void allRoomIsGivenBack() throws IOException {
		try (Wire wire = async()) {
			wire.chunk(LINE.repeat(90_000 / LINE.length()));
			await().until(() -> used() > 89_000);
		}
		await().untilAsserted(() -> assertThat(used()).isLessThan(10_000));
	}

	@Test
	void aBodyThatSaysThatItIsTooLargeIsNotReadAtAll() throws IOException {
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "Prefer: respond-async",
				"Content-Type: application/x-ndjson", "Content-Length: 200000", "Expect: 100-continue")) {
			assertThat(wire.answer().refusal(507, "insufficient-storage")).contains("no room for 200000 bytes more",
					"of 102400", "pipeset.spool.max-bytes", "without Prefer");
		}
	}

	@Test
	void aBodyThatDoesNotSaySoIsGivenUpWhenTheSpoolIsFull() throws IOException {
		try (Wire wire = async()) {
			wire.chunk(LINE.repeat(20_000)).lastChunk();
			assertThat(wire.answer().refusal(507, "insufficient-storage")).contains("pipeset.spool.max-bytes",
					"Nothing was run");
		}
		assertThat(this.redis.dbsize()).isZero();
		assertThat(Answer.counts(ended(send(LINE)))).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
	}

	/** Or the next process would not know of it. */
	@Test
	void aBodyBesideWhichTheJobItselfHasNoRoomIsGivenUp() {
		AtomicReference<Answer> refused = new AtomicReference<>();
		await().until(() -> {
			double used = used();
			Answer answer = send(LINE + " ".repeat(102_400 - (int) used - 50 - LINE.length()));
			if (answer.status() == 202) {
				// Meanwhile the end of an earlier job was recorded, and its file removed.
				ended(answer);
				this.redis.flushall();
				return false;
			}
			assertThat(used()).isLessThanOrEqualTo(used);
			refused.set(answer);
			return true;
		});
		assertThat(refused.get().refusal(507, "insufficient-storage")).contains("pipeset.spool.max-bytes",
				"Nothing was run");
		assertThat(this.redis.dbsize()).isZero();
		assertThat(Answer.counts(ended(send(LINE)))).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
	}

	@Test
	void bytesThatAreOnlyAnnouncedTakeNoRoom() throws IOException {
		String kept = ended(send("[\"NO\",\"k\"]\n")).get("jobId").asString();
		double used = used();
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "Prefer: respond-async",
				"Content-Type: application/x-ndjson", "Content-Length: 102400")) {
			wire.send(LINE);
			await().until(() -> used() == used + LINE.length());
			assertThat(Answer.counts(ended(send(LINE)))).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
			assertThat(this.service.get("/v1/jobs/" + kept + "/items").text().lines()).hasSize(1);
		}
	}

	@Test
	void itemsAreRemovedTheOldestFirstWhereOthersNeedTheirRoom() {
		List<String> jobs = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			jobs.add(ended(send("[\"NO\",\"k\"]" + " ".repeat(40_000) + "\n")).get("jobId").asString());
		}
		assertThat(this.service.get("/v1/jobs/" + jobs.get(0) + "/items").refusal(410, "gone"))
			.contains("pipeset.spool.max-bytes");
		assertThat(this.service.get("/v1/jobs/" + jobs.get(0)).json().at("/warnings/0/code").asString())
			.isEqualTo("ITEMS_REMOVED");
		for (String kept : jobs.subList(1, 3)) {
			assertThat(this.service.get("/v1/jobs/" + kept + "/items").text().lines()).hasSize(1);
		}
	}

	/** Or the next process would say that the job has failed. */
	@Test
	void aJobThatHasEndedWithoutItsItemsLeavesNoFiles() {
		String body = LINE.repeat(5900) + "[\"NO\",\"k\"]\n";
		JsonNode ended = ended(send(body));
		assertThat(ended.get("state").asString()).isEqualTo("completed");
		assertThat(ended.at("/warnings/0/code").asString()).isEqualTo("ITEMS_REMOVED");
		await().until(() -> used() < body.length());
		assertThat(this.service.get("/v1/jobs/" + ended.get("jobId").asString()).json().get("state").asString())
			.isEqualTo("completed");
	}

	private double used() {
		return this.service.get("/actuator/metrics/pipeset.spool.used").json().at("/measurements/0/value").asDouble(-1);
	}

	private Wire async() throws IOException {
		return Wire.post(this.service, "/v1/jobs", "Prefer: respond-async", "Content-Type: application/x-ndjson",
				"Transfer-Encoding: chunked");
	}

	private Answer send(String body) {
		HttpRequest.Builder request = this.service.request("/v1/jobs").header("Prefer", "respond-async");
		return this.service.send(request.header("Content-Type", Service.NDJSON).POST(BodyPublishers.ofString(body)));
	}

	/** A small body with a report of more than half of the spool. */
	private JsonNode ended(Answer answer) {
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		await().until(() -> this.service.get(answer.header("Location")).headers().firstValue("Retry-After").isEmpty());
		return this.service.get(answer.header("Location")).json();
	}

}
