package io.pipeset.web.siege;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.SmallBuffers;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Health answers, however many clients keep threads of the web server waiting. Clients
 * whose body nobody reads are let go. The server has 34 threads here.
 */
@ServiceTest(properties = { "server.tomcat.threads.max=1", "pipeset.limits.max-running-jobs=1",
		"pipeset.limits.max-waiting-jobs=1", "pipeset.limits.max-async-jobs=0", "pipeset.limits.max-wait=10m",
		"pipeset.limits.body-idle-timeout=10m", "pipeset.security.scripts=true",
		"server.tomcat.connection-timeout=10m" })
@Import(SmallBuffers.class)
class SiegeTests {

	private static final int CLIENTS = 70;

	private final Service service;

	private final List<Wire> wires = new ArrayList<>();

	SiegeTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		TestRedis.shared().client().flushall();
	}

	@AfterEach
	void letGo() throws IOException {
		for (Wire wire : this.wires) {
			wire.close();
		}
	}

	@Test
	void refusedUploadsThatTrickleAreAnsweredAndLetGo() throws IOException {
		for (int i = 0; i < CLIENTS; i++) {
			this.wires.add(Wire.begun(this.service, "/v1/jobs?batchSize=0", (i % 2 == 0) ? "1\r\n[\r\n" : "1"));
		}
		assertThat(get("/actuator/health/liveness").status()).isEqualTo(200);
		for (Wire wire : this.wires) {
			assertThat(wire.answer().status()).isIn(400, 429);
		}
		for (Wire wire : this.wires) {
			wire.awaitEnd();
		}
		this.service.post("/pipeset/3").report();
	}

	/** Clients that read no answer keep the thread that writes it. */
	@Test
	void moreUnreadScrapesThanThreadsDoNotKeepCallersFromAnAnswer() throws IOException {
		Answer refused = await().until(() -> {
			for (int i = 0; i < CLIENTS; i++) {
				this.wires.add(Wire.unread(this.service, "GET /actuator/prometheus HTTP/1.1", "Host: localhost"));
			}
			return get("/actuator/health");
		}, (answer) -> answer.status() == 429);
		assertThat(refused.refusal(429, "limit")).contains("24 requests to Actuator")
			.contains("server.tomcat.threads.max=34");
		assertThat(get("/none").status()).isEqualTo(404);
		this.service.post("/pipeset/3").report();
		await().until(() -> get("/actuator/health").status() == 200);
		await().until(() -> this.wires.stream().anyMatch(Wire::wasReset));
	}

	@Test
	void moreUnreadAnswersThanThreadsDoNotKeepHealthFromAnsweringAndGiveTheirThreadsUp() throws IOException {
		String[] values = Collections.nCopies(100, "x".repeat(1000)).toArray(String[]::new);
		Answer refused = get("/none");
		while (refused.status() == 404) {
			TestRedis.shared().client().del("list");
			TestRedis.shared().client().rpush("list", values);
			Wire wire = Wire.unread(this.service, "POST /piperpop/100?key=list HTTP/1.1", "Host: localhost",
					"Content-Length: 0");
			this.wires.add(wire);
			// The thread of the look before may still count, and have this one refused.
			if (!wire.line().contains(" 429")) {
				await().until(() -> TestRedis.shared().client().exists("list") == 0 && jobs() == 0);
			}
			refused = get("/none");
		}
		assertThat(refused.refusal(429, "limit")).contains("server.tomcat.threads.max=34");
		assertThat(refused.header("Retry-After")).matches("[1-9][0-9]*");
		assertThat(get("/actuator/health/liveness").status()).isEqualTo(200);
		assertThat(get("/actuator/prometheus").status()).isEqualTo(200);
		assertThat(this.wires).hasSizeGreaterThan(20);
		await().until(() -> get("/none").status() == 404);
		this.service.post("/pipeset/3").report();
		await().until(() -> this.wires.stream().anyMatch(Wire::wasReset));
	}

	private int jobs() {
		return get("/actuator/pipeset").json().at("/jobsRunning").asInt(-1);
	}

	/** Gets a page with a shorter timeout than that of the clients that hang. */
	private Answer get(String path) {
		return this.service.send(this.service.request(path).timeout(Duration.ofSeconds(20)).GET());
	}

}
