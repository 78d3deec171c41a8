package io.pipeset.web.access;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.stream.Stream;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Clients of a service in a process of its own: its log, and the services that use its
 * spool later.
 */
@ProcessTest
class ClientProcessTests {

	private static final String ORDERS = "pipeset.clients.orders.key-sha256=9d00f085fa34266c949e527a29d62334c2aa67b652266e3e42de6cbcdeab2144";

	private static final String BILLING = "pipeset.clients.billing.key-sha256=f7c28d1179e4b9f9b5df3f63b32285089c8f28b69f930e0a4e0e4b43e23d6ca6";

	private static final String HASH_OF_ORDERS = "9d00f085fa34266c";

	@TempDir
	Path folder;

	private Path spool = Path.of("");

	@BeforeEach
	void createSpool() throws IOException {
		this.spool = Files.createTempDirectory(this.folder, "spool");
	}

	@Test
	void theLogHasNoKeyAndAJobKeepsItsClientAfterARestart() throws Exception {
		try (TestRedis redis = TestRedis.start()) {
			String id = interruptJob(redis);
			try (Replica replica = next(redis, BILLING)) {
				Service billing = replica.service().as(ClientTest.BILLING);
				billing.get("/v1/jobs/" + id).refusal(404, "not-found");
				billing.post("/v1/jobs/" + id + "/resume").refusal(404, "not-found");
				assertThat(billing.get("/v1/jobs").text()).doesNotContain(id);
			}
			try (Replica replica = next(redis, ORDERS, BILLING, "pipeset.clients.orders.limits.max-bytes=10KB")) {
				Service orders = replica.service().as(ClientTest.ORDERS);
				assertThat(orders.post("/v1/jobs/" + id + "/resume").refusal(403, "forbidden"))
					.contains("pipeset.clients.orders.limits.max-bytes allows 10240");
				assertThat(orders.get("/v1/jobs/" + id).json().get("state").asString()).isEqualTo("interrupted");
			}
			try (Replica replica = next(redis, ORDERS, BILLING, "pipeset.clients.orders.limits.rate-limit=4000")) {
				Service orders = replica.service().as(ClientTest.ORDERS);
				Service billing = replica.service().as(ClientTest.BILLING);
				assertThat(orders.get("/v1/jobs/" + id).json().get("state").asString()).isEqualTo("interrupted");
				billing.get("/v1/jobs/" + id + "/items").refusal(404, "not-found");
				billing.delete("/v1/jobs/" + id).refusal(404, "not-found");
				billing.post("/v1/jobs/" + id + "/resume").refusal(404, "not-found");
				assertThat(orders.post("/v1/jobs/" + id + "/resume").status()).isEqualTo(202);
				billing.get("/v1/jobs/" + id).refusal(404, "not-found");
				assertThat(orders.patch("/v1/jobs/" + id + "?rateLimit=4000").status()).isEqualTo(200);
				await().until(() -> orders.get("/v1/jobs/" + id).json().get("state").asString().equals("completed"));
				assertThat(Answer.counts(orders.get("/v1/jobs/" + id).json()).applied()).isEqualTo(500);
			}
			try (Replica replica = next(redis)) {
				replica.service().get("/v1/jobs/" + id).refusal(404, "not-found");
			}
		}
	}

	/**
	 * Ends a process before the job of a client has ended, and checks its log.
	 * @return the id of the job
	 */
	private String interruptJob(TestRedis redis) throws Exception {
		try (ServiceProcess process = ServiceProcess.start(redis, "--" + ORDERS, "--" + BILLING, "--" + spool(),
				"--server.address=0.0.0.0", "--pipeset.warm-up.enabled=true", "--pipeset.warm-up.time=1s",
				"--pipeset.generated.enabled=false", "--logging.level.io.pipeset=trace",
				"--logging.level.org.springframework=debug", "--logging.level.org.springframework.security=trace")) {
			Service orders = process.service().as(ClientTest.ORDERS);
			String done = orders.ndjson("/v1/jobs", "[\"SET\",\"a\",\"secret-value\"]")
				.report()
				.get("jobId")
				.asString();
			orders.post("/v1/tunings").refusal(403, "forbidden");
			process.service().as("wrong-" + ClientTest.ORDERS).post("/pipeset/1").refusal(401, "unauthorized");
			process.service().post("/pipeset/1").refusal(401, "unauthorized");
			try (Wire wire = Wire.post(process.service(), "/pipeset/1", "Authorization: Basic " + ClientTest.ORDERS,
					"Authorization: Bearer " + ClientTest.ORDERS)) {
				assertThat(wire.answer().status()).isEqualTo(401);
			}
			String id = orders
				.send(orders.request("/v1/jobs?rateLimit=1")
					.header("Prefer", "respond-async")
					.header("Content-Type", Service.NDJSON)
					.POST(BodyPublishers.ofString("[\"SET\",\"order:1\",\"v\"]\n".repeat(500))))
				.json()
				.get("jobId")
				.asString();
			await().until(() -> redis.client().exists("order:1") == 1);
			process.kill();
			assertThat(process.output())
				.anyMatch((line) -> line
					.contains("Job " + done + " completed: client=orders op=mixed received=1 applied=1 "))
				.anyMatch((line) -> line.contains("Callers: the clients billing, orders, with their keys"))
				.anyMatch((line) -> line.contains("/v1/jobs -H 'Content-Type: text/plain'")
						&& line.contains("-H \"Authorization: Bearer $KEY\""))
				.anyMatch((line) -> line.contains("Warmed up in "))
				.noneMatch((line) -> line.contains(ClientTest.ORDERS))
				.noneMatch((line) -> line.contains("secret-value"))
				.noneMatch((line) -> line.contains(HASH_OF_ORDERS));
			return id;
		}
	}

	/**
	 * Starts the next service with the files of the previous one. The files are moved,
	 * because a service in this process locks its own until the process ends.
	 */
	private Replica next(TestRedis redis, String... properties) throws IOException {
		Path previous = this.spool;
		this.spool = Files.createTempDirectory(this.folder, "spool");
		try (Stream<Path> folders = Files.list(previous)) {
			for (Path folder : folders.filter(Files::isDirectory).toList()) {
				String name = UUID.randomUUID().toString();
				Files.move(folder, this.spool.resolve(name));
				Files.copy(previous.resolve(folder.getFileName() + ".lock"), this.spool.resolve(name + ".lock"));
			}
		}
		return Replica.start(redis, redis.properties(),
				Stream.concat(Stream.of(properties), Stream.of(spool())).toArray(String[]::new));
	}

	private String spool() {
		return "pipeset.spool.directory=" + this.spool;
	}

}
