package io.pipeset.web.callback;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.web.callback.Receiver.Post;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Any instance sends the reports of jobs that any other one has run, and each once. */
@ProcessTest
class CallbackInstancesTests {

	private static final int JOBS = 20;

	private final TestRedis redis = TestRedis.start();

	private final Receiver receiver = Receiver.open();

	private final String[] properties = { "pipeset.callbacks.allowed=" + this.receiver.url("/hooks"),
			"pipeset.callbacks.secret=" + CallbackTests.SECRETS };

	@BeforeEach
	void selectRecords() {
		this.redis.client().select(1);
	}

	@AfterEach
	void close() {
		this.receiver.close();
		this.redis.close();
	}

	@Test
	void twoInstancesSendEachReportOnce() {
		try (Replica one = start(); Replica other = start()) {
			List<String> ids = new ArrayList<>();
			for (int i = 0; i < JOBS; i++) {
				ids.add(begin(one.service(), "/pipeset/1?callback=", ""));
			}
			for (String id : ids) {
				await().until(() -> state(other.service(), id).equals("delivered"));
				assertThat(state(one.service(), id)).isEqualTo("delivered");
			}
			assertThat(this.receiver.posts("/hooks")).extracting((post) -> post.header("webhook-id"))
				.containsExactlyInAnyOrderElementsOf(ids);
		}
	}

	@Test
	void theNextServiceSendsTheReportThatTheFormerOneCouldNot() {
		this.receiver.answer("/hooks", 0);
		String id;
		try (Replica former = start()) {
			id = begin(former.service(), "/pipeset/1?callback=", "?token=x");
			this.receiver.await("/hooks", 1);
		}
		this.redis.client().zadd(TestRedis.shared().controlKey("callbacks", "due"), 0, id + "none");
		try (Replica next = start()) {
			await().until(() -> state(next.service(), id).equals("delivered"));
			List<Post> posts = this.receiver.posts("/hooks");
			assertThat(posts).hasSize(2);
			assertThat(posts).extracting((post) -> post.header("webhook-id")).containsOnly(id);
			assertThat(posts).extracting(Post::query).containsOnly("token=x");
			assertThat(posts.get(1).body()).isEqualTo(posts.get(0).body());
		}
	}

	/** What the next service may send follows its own properties. */
	@Test
	void aUrlThatIsNotAllowedAnyMoreGetsNothing() {
		this.receiver.answer("/hooks", 500);
		String id;
		try (Replica former = start()) {
			id = begin(former.service(), "/pipeset/1?callback=", "");
			await().until(() -> callback(former.service(), id).path("attempts").asInt(0) == 1);
		}
		this.redis.client().zadd(TestRedis.shared().controlKey("callbacks", "due"), 0, id + "none");
		try (Replica next = start("pipeset.callbacks.allowed=" + this.receiver.url("/other"))) {
			await().untilAsserted(() -> assertThat(callback(next.service(), id).get("lastError").asString())
				.isEqualTo("This callback is not under one of the URLs that pipeset.callbacks.allowed allows"));
			assertThat(callback(next.service(), id).get("attempts").asInt()).isOne();
			assertThat(this.receiver.posts("/hooks")).hasSize(1);
		}
	}

	@Test
	void aJobThatIsResumedHasItsCallbackWhenItEnds(@TempDir Path spool) throws Exception {
		String id;
		try (ServiceProcess process = startProcess(spool)) {
			id = begin(process.service(), "/v1/jobs?rateLimit=200&callback=", "?token=x");
			await().until(() -> Answer.counts(process.service().get("/v1/jobs/" + id).json()).applied() > 0);
			process.kill();
		}
		assertThat(this.receiver.posts("/hooks")).isEmpty();
		try (ServiceProcess next = startProcess(spool)) {
			Post post = this.receiver.await("/hooks", 1);
			assertThat(post.json().get("jobId").asString()).isEqualTo(id);
			assertThat(post.json().get("state").asString()).isEqualTo("completed");
			assertThat(post.query()).isEqualTo("token=x");
			await().until(() -> state(next.service(), id).equals("delivered"));
			assertThat(String.join("\n", next.output())).doesNotContain("token=x");
		}
		assertThat(this.receiver.posts("/hooks")).hasSize(1);
	}

	@Test
	void aJobThatCannotBeResumedHasItsCallbackAsFailed(@TempDir Path spool) throws Exception {
		String id;
		try (ServiceProcess process = startProcess(spool)) {
			id = begin(process.service(), "/v1/jobs?rateLimit=200&callback=", "");
			await().until(() -> Answer.counts(process.service().get("/v1/jobs/" + id).json()).applied() > 0);
			process.kill();
		}
		try (Stream<Path> files = Files.walk(spool)) {
			Files.writeString(files.filter((file) -> file.toString().endsWith(".body")).findFirst().orElseThrow(), "[");
		}
		try (ServiceProcess next = startProcess(spool)) {
			Post post = this.receiver.await("/hooks", 1);
			assertThat(post.json().get("jobId").asString()).isEqualTo(id);
			assertThat(post.json().get("state").asString()).isEqualTo("failed");
			assertThat(post.json().at("/ending/type").asString()).isEqualTo("gone");
			await().until(() -> state(next.service(), id).equals("delivered"));
		}
	}

	/** Its records are generated, so that no process can go on with it. */
	@Test
	void aJobWithoutFilesHasItsCallbackWhenItIsCancelledAfterItsProcessDied(@TempDir Path spool) throws Exception {
		String id;
		try (ServiceProcess process = startProcess(spool)) {
			id = begin(process.service(), "/pipeset/100000?rateLimit=10&callback=", "");
			await().until(() -> Answer.counts(process.service().get("/v1/jobs/" + id).json()).applied() > 0);
			process.kill();
		}
		try (ServiceProcess next = startProcess(spool)) {
			assertThat(next.service().delete("/v1/jobs/" + id).status()).isEqualTo(202);
			await().until(() -> {
				makeDue();
				return !this.receiver.posts("/hooks").isEmpty();
			});
			Post post = this.receiver.await("/hooks", 1);
			assertThat(post.json().get("jobId").asString()).isEqualTo(id);
			assertThat(post.json().get("state").asString()).isEqualTo("cancelled");
			await().until(() -> state(next.service(), id).equals("delivered"));
		}
	}

	private void makeDue() {
		String queue = TestRedis.shared().controlKey("callbacks", "due");
		this.redis.client().zrange(queue, 0, -1).forEach((due) -> this.redis.client().zadd(queue, 0, due));
	}

	private Replica start(String... more) {
		List<String> all = new ArrayList<>(List.of(this.properties));
		all.addAll(List.of(more));
		return Replica.start(this.redis, TestRedis.shared().properties(), all.toArray(String[]::new));
	}

	private ServiceProcess startProcess(Path spool) throws Exception {
		return ServiceProcess.start(this.redis, "--" + this.properties[0], "--" + this.properties[1],
				"--pipeset.spool.directory=" + spool, "--pipeset.jobs.lease=1s", "--pipeset.jobs.resume=auto");
	}

	private String begin(Service service, String call, String query) {
		boolean upload = call.startsWith("/v1");
		HttpRequest.Builder request = service.request(call + this.receiver.url("/hooks") + query)
			.header("Prefer", "respond-async");
		Answer answer = service.send((upload)
				? request.header("Content-Type", Service.NDJSON)
					.POST(BodyPublishers.ofString("[\"SET\",\"k\",\"v\"]\n".repeat(1000)))
				: request.POST(BodyPublishers.noBody()));
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return answer.json().get("jobId").asString();
	}

	private static JsonNode callback(Service service, String id) {
		return service.get("/v1/jobs/" + id).json().path("callback");
	}

	private static String state(Service service, String id) {
		return callback(service, id).path("state").asString("");
	}

}
