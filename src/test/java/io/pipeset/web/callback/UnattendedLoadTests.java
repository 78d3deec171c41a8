package io.pipeset.web.callback;

import java.io.PrintWriter;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.OwnThread;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.web.callback.Receiver.Post;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A load as an operator sees it who does nothing: of three instances with one spool
 * directory, the one that has the job is killed, and the one that goes on with it is
 * rolled. The job ends all the same, and its callback comes once. The next load replaces
 * the dataset while others read it. {@code -Dcampaign.rows=N} says how many rows there
 * are.
 */
@ProcessTest
class UnattendedLoadTests {

	private static final int ROWS = Integer.getInteger("campaign.rows", 60_000);

	/** One row in so many is not in the second file. */
	private static final int GONE = 30;

	private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

	@TempDir
	Path folder;

	@Test
	void aLoadEndsByItselfAndTheNextOneReplacesIt() throws Exception {
		List<ServiceProcess> instances = new ArrayList<>();
		try (TestRedis redis = TestRedis.start(); Receiver receiver = Receiver.open()) {
			for (int i = 0; i < 3; i++) {
				instances.add(start(redis, receiver));
			}
			String first = load(instances.get(0).service(), receiver, "/first", (i) -> true, "&label=catalogue");
			awaitApplied(instances, first, ROWS / 4);
			owner(instances, first).kill();
			awaitApplied(instances, first, ROWS / 2);
			ServiceProcess rolled = owner(instances, first);
			instances.add(start(redis, receiver));
			rolled.terminate();
			rolled.awaitEnd();
			Post post = receiver.await("/first", 1);
			assertThat(post.signatures()).contains(Receiver.signature(post, SECRET));
			assertThat(post.json().get("state").asString()).isEqualTo("completed");
			assertThat(post.json().at("/label").asString()).isEqualTo("catalogue");
			assertThat(Answer.counts(post.json())).isEqualTo(new Counts(ROWS, ROWS, 0, 0, 0, 0));
			assertThat(products(redis.client())).isEqualTo(ROWS);
			replace(redis, receiver, instances);
			assertThat(receiver.posts("/first")).as("it came once").hasSize(1);
		}
		finally {
			instances.forEach(ServiceProcess::close);
		}
	}

	private void replace(TestRedis redis, Receiver receiver, List<ServiceProcess> instances) throws Exception {
		int gone = ROWS / GONE;
		redis.client().set("other", "kept");
		AtomicBoolean over = new AtomicBoolean();
		AtomicLong reads = new AtomicLong();
		RedisCommands<String, String> reader = redis.client();
		CompletableFuture<Void> reading = OwnThread.run(() -> {
			for (int i = 1; !over.get(); i = (i + 7919) % ROWS) {
				if (i % GONE != 0) {
					assertThat(reader.hget("product:" + i, "price")).as("product %d", i).isNotNull();
					reads.incrementAndGet();
				}
			}
		});
		await().until(() -> reads.get() > 0);
		ServiceProcess living = instances.stream().filter(ServiceProcess::isAlive).findFirst().orElseThrow();
		load(living.service(), receiver, "/second", (i) -> i % GONE != 0, "&replace=product:*");
		JsonNode report = receiver.await("/second", 1).json();
		over.set(true);
		reading.join();
		assertThat(report.get("state").asString()).isEqualTo("completed");
		assertThat(report.at("/replaced/kept").asLong()).isEqualTo(ROWS - gone);
		assertThat(report.at("/replaced/removed").asLong()).isEqualTo(gone);
		assertThat(products(redis.client())).isEqualTo(ROWS - gone);
		assertThat(redis.client().exists("product:0")).isZero();
		assertThat(redis.client().get("other")).isEqualTo("kept");
	}

	private ServiceProcess start(TestRedis redis, Receiver receiver) throws Exception {
		return ServiceProcess.start(redis, "--pipeset.spool.directory=" + this.folder.resolve("spool"),
				"--pipeset.jobs.resume=auto", "--pipeset.jobs.lease=2s", "--pipeset.limits.shutdown-grace=10ms",
				"--pipeset.callbacks.allowed=" + receiver.url("/"), "--pipeset.callbacks.secret=" + SECRET);
	}

	/** Loads so slowly that there is time to kill two instances. */
	private String load(Service service, Receiver receiver, String callback, IntPredicate rows, String settings)
			throws Exception {
		Path file = this.folder.resolve("products.csv");
		try (PrintWriter lines = new PrintWriter(Files.newBufferedWriter(file))) {
			lines.println("sku,price");
			IntStream.range(0, ROWS).filter(rows).forEach((i) -> lines.println(i + "," + i % 97));
		}
		Answer answer = service.send(service
			.request("/v1/jobs?op=HSET&key=product:%7Bsku%7D&retries=3&rateLimit=" + ROWS / 6 + settings + "&callback="
					+ receiver.url(callback))
			.header("Prefer", "respond-async")
			.header("Content-Type", "text/csv")
			.POST(BodyPublishers.ofFile(file)));
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return "/v1/jobs/" + answer.json().get("jobId").asString();
	}

	private static void awaitApplied(List<ServiceProcess> instances, String job, long records) {
		await().until(() -> instances.stream()
			.filter((instance) -> runs(instance, job))
			.anyMatch((instance) -> Answer.counts(instance.service().get(job).json()).applied() >= records));
	}

	private static ServiceProcess owner(List<ServiceProcess> instances, String job) {
		return instances.stream().filter((instance) -> runs(instance, job)).findFirst().orElseThrow();
	}

	/** Another instance names the one that has the job. */
	private static boolean runs(ServiceProcess instance, String job) {
		if (!instance.isAlive()) {
			return false;
		}
		JsonNode look = instance.service().get(job).json();
		return look.path("state").asString("").equals("running") && !look.has("instance");
	}

	private static long products(RedisCommands<String, String> redis) {
		return redis.keys("product:*").size();
	}

}
