package io.pipeset.web;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
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
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Callers follow a job to its end, also if they come late or read slowly. */
@ServiceTest(properties = "pipeset.limits.max-event-streams=100")
class JobEventsTests {

	private static final String TEXT = "text/plain";

	private static final JsonMapper mapper = JsonMapper.builder().build();

	private final Service service;

	private final JobEvents events;

	private final MeterRegistry meters;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	private Wire upload;

	private String id = "";

	JobEventsTests(Service service, @Autowired JobEvents events, @Autowired MeterRegistry meters) {
		this.service = service;
		this.events = events;
		this.meters = meters;
	}

	/** Starts a job that has run two records and waits for the rest of its body. */
	@BeforeEach
	void begin() throws IOException {
		this.redis.flushall();
		this.upload = Wire.upload(this.service, "/v1/jobs")
			.chunk("[\"SET\",\"a\",\"1\"]\n[\"SET\",\"b\",\"1\"]\n[\"NO\"]\n");
		await().until(() -> this.redis.dbsize() == 2);
		this.id = this.service.awaitJob("running");
		await().until(() -> this.service.get("/v1/jobs/" + this.id).json().at("/progress/done").asLong() == 3);
	}

	@AfterEach
	void end() throws IOException {
		this.upload.close();
		await().until(() -> this.events.count() == 0);
	}

	@Test
	void aSubscriberReceivesTheStateAtOnceThenProgressThenOneEnd() throws Exception {
		try (Wire wire = subscribe()) {
			assertThat(wire.line()).isEqualTo("HTTP/1.1 200 ");
			List<String> lines = new ArrayList<>();
			while (lines.stream().filter((line) -> line.startsWith("data:")).count() < 3) {
				lines.add(wire.line());
			}
			assertThat(lines).contains("Content-Type: text/event-stream", "Cache-Control: no-store");
			List<Event> heard = events(String.join("\n", lines));
			assertThat(heard).allSatisfy((event) -> {
				assertThat(event.name()).isEqualTo("progress");
				assertThat(event.id()).isNotEqualTo("end");
				assertThat(event.data().get("state").asString()).isEqualTo("running");
				assertThat(Answer.counts(event.data())).isEqualTo(new Counts(3, 2, 0, 1, 0, 0));
			});
			assertThat(heard).extracting(Event::id).doesNotHaveDuplicates();
			this.upload.lastChunk().answer().report();
			String rest = rest(wire);
			assertThat(events(rest)).last().satisfies((event) -> {
				assertThat(event.name()).isEqualTo("end");
				assertThat(event.id()).isEqualTo("end");
				assertThat(event.data().get("state").asString()).isEqualTo("completed");
				assertThat(Answer.counts(event.data())).isEqualTo(new Counts(3, 2, 0, 1, 0, 0));
				assertThat(event.data().has("endedMillis")).isTrue();
			});
		}
	}

	@Test
	void eventsWithinAMillisecondHaveDifferentIds() throws Exception {
		try (Wire wire = subscribe()) {
			List<Long> ids = new ArrayList<>();
			while (ids.size() < 200) {
				this.events.tick();
				String line = wire.line();
				if (line.startsWith("id:")) {
					ids.add(Long.valueOf(line.substring(3)));
				}
			}
			assertThat(ids).doesNotHaveDuplicates().isSorted();
		}
	}

	@Test
	void aLateSubscriberReceivesOnlyTheEnd() throws Exception {
		this.upload.lastChunk().answer().report();
		Answer late = this.service.get("/v1/jobs/" + this.id + "/events");
		assertThat(events(late.text())).singleElement().satisfies((event) -> {
			assertThat(event.name()).isEqualTo("end");
			assertThat(event.data().get("jobId").asString()).isEqualTo(this.id);
		});
		Answer again = this.service
			.send(this.service.request("/v1/jobs/" + this.id + "/events").header("Last-Event-ID", "end").GET());
		assertThat(again.status()).isEqualTo(204);
		assertThat(again.text()).isEmpty();
	}

	@Test
	void aSubscriberThatReconnectsReceivesTheCurrentState() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<Answer> back = this.service.sendAsync(
				this.service.request("/v1/jobs/" + this.id + "/events").header("Last-Event-ID", "17").GET(), begun);
		assertThat(begun.await(1, TimeUnit.MINUTES)).isTrue();
		this.upload.lastChunk().answer().report();
		List<Event> heard = events(back.get(1, TimeUnit.MINUTES).text());
		assertThat(heard.get(0).name()).isEqualTo("progress");
		assertThat(heard.get(heard.size() - 1).name()).isEqualTo("end");
	}

	@Test
	void aSubscriberThatDisconnectsIsRemoved() throws Exception {
		subscribe().close();
		try (Wire wire = subscribe()) {
			wire.line();
			await().until(() -> this.events.count() == 1);
		}
		await().until(() -> this.events.count() == 0);
		this.upload.lastChunk().answer().report();
	}

	@Test
	void aSubscriberThatDisconnectsBeforeTheFirstEventLeavesNoOpenRequest() throws Exception {
		long before = answered();
		for (int i = 0; i < 20; i++) {
			subscribe().reset();
		}
		await().until(() -> answered() >= before + 20);
		await().until(() -> this.events.count() == 0);
	}

	@Test
	void aHeadRequestOpensNoStream() {
		Answer look = this.service
			.send(this.service.request("/v1/jobs/" + this.id + "/events").method("HEAD", BodyPublishers.noBody()));
		assertThat(look.status()).isEqualTo(200);
		assertThat(look.header("Content-Type")).startsWith("text/event-stream");
		assertThat(this.events.count()).isZero();
	}

	@Test
	void aHundredCallersFollowAJobAtOnceAndTheNextIsRefused() throws Exception {
		CountDownLatch begun = new CountDownLatch(100);
		List<CompletableFuture<Answer>> all = Stream
			.generate(
					() -> this.service.sendAsync(this.service.request("/v1/jobs/" + this.id + "/events").GET(), begun))
			.limit(100)
			.toList();
		assertThat(begun.await(1, TimeUnit.MINUTES)).isTrue();
		Answer refused = this.service.get("/v1/jobs/" + this.id + "/events");
		assertThat(refused.refusal(429, "limit")).contains("pipeset.limits.max-event-streams=100");
		assertThat(refused.header("Retry-After")).isNotEmpty();
		this.upload.lastChunk().answer().report();
		for (CompletableFuture<Answer> one : all) {
			List<Event> heard = events(one.get(1, TimeUnit.MINUTES).text());
			assertThat(heard).filteredOn((event) -> event.name().equals("end")).hasSize(1);
			assertThat(heard.get(0).name()).isEqualTo("progress");
			assertThat(heard.get(heard.size() - 1).name()).isEqualTo("end");
		}
	}

	@Test
	void aTerminalShowsALineThatIsOverwritten() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<Answer> line = this.service
			.sendAsync(this.service.request("/v1/jobs/" + this.id + "/events").header("Accept", TEXT).GET(), begun);
		assertThat(begun.await(1, TimeUnit.MINUTES)).isTrue();
		this.upload.lastChunk().answer().report();
		Answer answer = line.get(1, TimeUnit.MINUTES);
		assertThat(answer.header("Content-Type")).startsWith(TEXT);
		String[] lines = answer.text().split("\r", -1);
		assertThat(lines[0]).isEmpty();
		assertThat(lines[1]).matches("running  3 records  [0-9,]+/s  1 rejected\u001b\\[K");
		assertThat(lines[lines.length - 1]).matches("completed  3 records in .*  [0-9,]+/s  1 rejected\u001b\\[K\n");
	}

	@Test
	void aJobThatWasCancelledEndsItsStreamsWithTheReason() throws Exception {
		CompletableFuture<Answer> line = this.service
			.sendAsync(this.service.request("/v1/jobs/" + this.id + "/events").header("Accept", TEXT).GET());
		await().until(() -> this.events.count() == 1);
		this.service.delete("/v1/jobs/" + this.id);
		assertThat(line.get(1, TimeUnit.MINUTES).text()).contains("cancelled: The job was cancelled by DELETE");
		this.upload.answer().job(409, "cancelled", "cancelled");
	}

	@Test
	void atEveryMomentTheCountsAddUp() throws Exception {
		this.upload.lastChunk().answer().report();
		CompletableFuture<Answer> job = this.service
			.sendAsync(this.service.request("/pipeset/100000?concurrency=4&batchSize=1000&rateLimit=1000")
				.POST(BodyPublishers.noBody()));
		String running = this.service.awaitJob("running");
		try (Wire wire = subscribe(running)) {
			this.service.patch("/v1/jobs/" + running + "?rateLimit=none");
			while (!job.isDone()) {
				this.events.tick();
				Answer.counts(this.service.get("/v1/jobs/" + running).json());
			}
			List<Event> heard = events(rest(wire));
			long before = 0;
			for (Event event : heard) {
				Counts counts = Answer.counts(event.data());
				assertThat(counts.applied() + counts.rejected() + counts.unknown() + counts.unprocessed())
					.isEqualTo(counts.received());
				assertThat(counts.applied()).isGreaterThanOrEqualTo(before);
				before = counts.applied();
			}
			assertThat(before).isEqualTo(100_000);
		}
		job.get(1, TimeUnit.MINUTES).report();
	}

	/** The number of ended requests for events. */
	private long answered() {
		return this.meters.find("http.server.requests")
			.tag("uri", "/v1/jobs/{id}/events")
			.timers()
			.stream()
			.mapToLong(Timer::count)
			.sum();
	}

	private Wire subscribe() throws IOException {
		return subscribe(this.id);
	}

	private Wire subscribe(String job) throws IOException {
		return Wire.open(this.service, "GET /v1/jobs/" + job + "/events HTTP/1.1",
				"Host: 127.0.0.1:" + this.service.port(), "Accept: text/event-stream", "Connection: close");
	}

	/** Reads to the end of the stream. */
	private static String rest(Wire wire) throws IOException {
		StringBuilder rest = new StringBuilder();
		String line = wire.line();
		while (!line.equals("0")) {
			rest.append(line).append('\n');
			line = wire.line();
		}
		return rest.toString();
	}

	private static List<Event> events(String text) {
		List<Event> events = new ArrayList<>();
		String id = "";
		String name = "";
		for (String line : text.split("\n", -1)) {
			if (line.startsWith("id:")) {
				id = line.substring(3);
			}
			else if (line.startsWith("event:")) {
				name = line.substring(6);
			}
			else if (line.startsWith("data:")) {
				events.add(new Event(id, name, mapper.readTree(line.substring(5))));
			}
		}
		return events;
	}

	/** An event that a subscriber received. */
	private record Event(String id, String name, JsonNode data) {

	}

}
