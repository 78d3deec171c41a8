package io.pipeset.web.server;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.SmallBuffers;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * If other requests need threads or memory, the service ends answers that are read too
 * slowly. Nothing else would end them here within ten minutes.
 */
@ServiceTest(properties = { "server.tomcat.connection-timeout=10m", "pipeset.limits.body-idle-timeout=10m",
		"pipeset.limits.max-running-jobs=4", "pipeset.memory.budget=32MB", "management.server.port=0",
		"management.server.address=127.0.0.1" })
@Import(SmallBuffers.class)
class UnreadAnswerTests {

	private final Service service;

	private final Service management;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	private final List<Wire> open = new ArrayList<>();

	private final ScheduledExecutorService readers = Executors.newSingleThreadScheduledExecutor();

	UnreadAnswerTests(Service service, @Autowired Environment environment) {
		this.service = service;
		this.management = new Service(environment.getRequiredProperty("local.management.port", Integer.class));
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@AfterEach
	void close() throws IOException {
		this.readers.shutdownNow();
		for (Wire wire : this.open) {
			wire.close();
		}
	}

	@Test
	void healthAnswersDespiteUnreadScrapes() throws IOException {
		for (int i = 0; i < 12; i++) {
			this.open.add(Wire.unread(this.management, "GET /actuator/prometheus HTTP/1.1", "Host: localhost"));
		}
		assertThat(get(this.management, "/actuator/health/liveness")).isEqualTo(200);
		await().until(() -> this.open.stream().anyMatch(Wire::wasReset));
	}

	/** A caller that reads 1 MB in five seconds would be fast enough. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 20_000 })
	void unreadReportsGiveUpMemoryThatAJobNeeds(int readBytesPerSecond) throws IOException {
		String megabyte = "x".repeat(1 << 20);
		for (String list : List.of("first", "second")) {
			this.redis.rpush(list, Collections.nCopies(10, megabyte).toArray(String[]::new));
			Wire wire = Wire.unread(this.service, "POST /piperpop/10?key=" + list + " HTTP/1.1", "Host: localhost",
					"Content-Length: 0");
			this.open.add(wire);
			if (readBytesPerSecond > 0) {
				Future<?> unused = this.readers.scheduleAtFixedRate(() -> wire.tryRead(readBytesPerSecond / 20), 50, 50,
						TimeUnit.MILLISECONDS);
			}
		}
		await().until(() -> this.redis.exists("first", "second") == 0);
		await().until(() -> this.management.get("/actuator/pipeset").json().at("/jobsRunning").asInt() == 0);
		String large = "x".repeat(4 << 20);
		assertThat(Answer.counts(this.service.ndjson("/v1/jobs", "[\"SET\",\"large\",\"" + large + "\"]").report()))
			.isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(this.redis.strlen("large")).isEqualTo(4 << 20);
		await().until(() -> memory("waiting") == 0);
		await().until(() -> this.open.stream().anyMatch(Wire::wasReset));
	}

	@Test
	void unreadListsOfItemsGiveUpTheirPermits() throws IOException {
		String job = this.service
			.send(this.service.request("/v1/jobs")
				.header("Prefer", "respond-async")
				.header("Content-Type", Service.NDJSON)
				.POST(BodyPublishers.ofString("bad\n".repeat(20_000))))
			.header("Location");
		await().until(() -> get(this.service, job + "/items") == 200);
		for (int i = 0; i < 8; i++) {
			Wire wire = Wire.unread(this.service, "GET " + job + "/items HTTP/1.1", "Host: localhost");
			this.open.add(wire);
			assertThat(wire.line()).contains("200");
		}
		await().until(() -> get(this.service, job + "/items") == 200);
		await().until(() -> this.open.stream().anyMatch(Wire::wasReset));
	}

	private long memory(String name) {
		return this.management.get("/actuator/pipeset").json().at("/memory/" + name).asLong();
	}

	private static int get(Service server, String path) {
		return server.send(server.request(path).timeout(Duration.ofSeconds(30)).GET()).status();
	}

}
