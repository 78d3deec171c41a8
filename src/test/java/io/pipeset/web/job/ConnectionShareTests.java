package io.pipeset.web.job;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Few connections serve many jobs, and no job keeps another from them. */
@ServiceTest(properties = { "pipeset.pipeline.max-connections=2", "pipeset.defaults.timeout=30s" })
class ConnectionShareTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ConnectionShareTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { "concurrency=4&batchSize=10000", "concurrency=4&batchSize=100&flush=each",
			"concurrency=4&batchSize=50&flush=close", "concurrency=16&batchSize=100" })
	void jobsThatWantMoreLanesThanThereAreConnectionsAllComplete(String settings) throws Exception {
		List<CompletableFuture<Answer>> jobs = new ArrayList<>();
		for (int job = 0; job < 12; job++) {
			String prefix = "job" + job + ":";
			jobs.add(this.service.sendAsync(this.service.uploading("/v1/jobs?" + settings, Service.NDJSON,
					Lines.of(3000, (i) -> (i % 500 == 499) ? "[\"DEL\",\"" + prefix + "x\",\"" + prefix + "y\"]"
							: "{\"op\":\"SET\",\"key\":\"" + prefix + i + "\",\"value\":\"v\"}"))));
		}
		for (CompletableFuture<Answer> job : jobs) {
			assertThat(Answer.counts(job.get(60, TimeUnit.SECONDS).report()))
				.isEqualTo(new Counts(3000, 3000, 0, 0, 0, 0));
		}
		assertThat(this.redis.dbsize()).isEqualTo(12 * (3000 - 6));
		assertThat(this.service.get("/actuator/pipeset").json().at("/lanes/busy").asInt(-1)).isZero();
	}

	@Test
	void openUploadsThatSendNothingKeepNoJobFromRunning() throws IOException {
		List<Wire> open = new ArrayList<>();
		try {
			for (int i = 0; i < 4; i++) {
				Wire wire = Wire.upload(this.service, "/v1/jobs?op=SET&concurrency=4");
				open.add(wire.chunk("{\"key\":\"slow" + i + "\",\"value\":\"1\"}\n{\"key\":"));
			}
			await().untilAsserted(() -> assertThat(this.redis.dbsize()).isEqualTo(4));
			assertThat(Answer.counts(this.service.post("/pipeset/5000?timeout=5s").report()))
				.isEqualTo(new Counts(5000, 5000, 0, 0, 0, 0));
			assertThat(this.service.get("/actuator/pipeset").json().at("/jobsRunning").asInt()).isEqualTo(4);
			for (Wire wire : open) {
				wire.chunk("\"late\",\"value\":\"1\"}\n").lastChunk();
				assertThat(Answer.counts(wire.answer().report())).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
			}
		}
		finally {
			for (Wire wire : open) {
				wire.close();
			}
		}
	}

	@Test
	void manyMoreTricklingUploadsThanConnectionsDoNotKeepFastJobsFromRunning() throws Exception {
		List<Trickle> trickles = new ArrayList<>();
		try {
			for (int i = 0; i < 20; i++) {
				trickles.add(Trickle.start(this.service, "list" + i));
			}
			await().until(() -> this.redis.dbsize() == 20);
			for (int i = 0; i < 5; i++) {
				assertThat(Answer.counts(this.service
					.send(this.service.request("/pipeset/5000?timeout=5s").POST(BodyPublishers.noBody()))
					.report())).isEqualTo(new Counts(5000, 5000, 0, 0, 0, 0));
			}
			long sent = this.redis.llen("list0");
			await().until(() -> this.redis.llen("list0") > sent);
			for (int i = 0; i < 20; i++) {
				assertThat(trickles.get(i).finish()).isEqualTo(this.redis.llen("list" + i)).isPositive();
			}
		}
		finally {
			for (Trickle trickle : trickles) {
				trickle.close();
			}
		}
	}

	@Test
	void theEndpointShowsHowManyConnectionsThereAre() {
		assertThat(this.service.get("/actuator/pipeset").json().at("/lanes/most").asInt()).isEqualTo(2);
	}

	/** An upload that sends a record every ten milliseconds. */
	private static final class Trickle implements AutoCloseable {

		private final Wire wire;

		private final Thread thread;

		private volatile boolean on = true;

		private Trickle(Wire wire, String list) {
			this.wire = wire;
			this.thread = new Thread(() -> {
				try {
					while (this.on) {
						wire.chunk("[\"LPUSH\",\"" + list + "\",\"x\"]\n");
						TimeUnit.MILLISECONDS.sleep(10);
					}
					wire.lastChunk();
				}
				catch (IOException | InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			}, "trickle-" + list);
		}

		static Trickle start(Service service, String list) throws IOException {
			Trickle trickle = new Trickle(Wire.upload(service, "/v1/jobs?concurrency=2"), list);
			trickle.thread.start();
			return trickle;
		}

		long finish() throws IOException {
			this.on = false;
			return Answer.counts(this.wire.answer().report()).applied();
		}

		@Override
		public void close() throws IOException {
			this.on = false;
			this.wire.close();
		}

	}

}
