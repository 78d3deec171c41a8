package io.pipeset.web.access;

import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Clients of a service in a process of its own, with its log and its restarts. */
class ClientProcessTests {

	private static final String ORDERS = "--pipeset.clients.orders.key-sha256=9d00f085fa34266c949e527a29d62334c2aa67b652266e3e42de6cbcdeab2144";

	private static final String BILLING = "--pipeset.clients.billing.key-sha256=f7c28d1179e4b9f9b5df3f63b32285089c8f28b69f930e0a4e0e4b43e23d6ca6";

	@Test
	void noKeyIsInTheLogAndEachJobHasItsClientThere() throws Exception {
		List<String> output;
		try (TestRedis redis = TestRedis.start();
				ServiceProcess process = ServiceProcess.start(redis, ORDERS, BILLING, "--server.address=0.0.0.0",
						"--pipeset.warm-up.enabled=true", "--pipeset.warm-up.time=1s",
						"--pipeset.generated.enabled=false", "--logging.level.io.pipeset=trace",
						"--logging.level.org.springframework=debug",
						"--logging.level.org.springframework.security=trace")) {
			Service orders = process.service().as(ClientTest.ORDERS);
			String id = orders.ndjson("/v1/jobs", "[\"SET\",\"a\",\"secret-value\"]").report().get("jobId").asString();
			orders.post("/v1/tunings").refusal(403, "forbidden");
			process.service().as("wrong-" + ClientTest.ORDERS).post("/pipeset/1").refusal(401, "unauthorized");
			process.service().post("/pipeset/1").refusal(401, "unauthorized");
			try (Wire wire = Wire.post(process.service(), "/pipeset/1", "Authorization: Basic " + ClientTest.ORDERS,
					"Authorization: Bearer " + ClientTest.ORDERS)) {
				assertThat(wire.answer().status()).isEqualTo(401);
			}
			process.terminate();
			process.awaitEnd();
			output = new ArrayList<>(process.output());
			assertThat(output).anyMatch(
					(line) -> line.contains("Job " + id + " completed: client=orders op=mixed received=1 applied=1 "));
		}
		assertThat(output).anyMatch((line) -> line.contains("Callers: the clients billing, orders, with their keys"))
			.anyMatch((line) -> line.contains("/v1/jobs -H 'Content-Type: text/plain'")
					&& line.contains("-H \"Authorization: Bearer $KEY\""))
			.anyMatch((line) -> line.contains("Warmed up in "))
			.noneMatch((line) -> line.contains(ClientTest.ORDERS))
			.noneMatch((line) -> line.contains("secret-value"))
			.noneMatch((line) -> line.contains("9d00f085fa34266c"));
	}

	@Test
	void anUploadThatIsInterruptedKeepsItsClientAndIsNobodysWithoutIt() throws Exception {
		String spool = "--pipeset.spool.directory=" + Path.of("target/spool/clients-" + UUID.randomUUID());
		try (TestRedis redis = TestRedis.start()) {
			String id;
			try (ServiceProcess process = ServiceProcess.start(redis, ORDERS, BILLING, spool)) {
				Service orders = process.service().as(ClientTest.ORDERS);
				id = orders
					.send(orders.request("/v1/jobs?rateLimit=100")
						.header("Prefer", "respond-async")
						.header("Content-Type", Service.NDJSON)
						.POST(BodyPublishers.ofString("[\"SET\",\"order:1\",\"v\"]\n".repeat(1000))))
					.json()
					.get("jobId")
					.asString();
				await().until(() -> redis.client().exists("order:1") == 1);
				process.kill();
			}
			try (ServiceProcess process = ServiceProcess.start(redis, BILLING, spool)) {
				Service billing = process.service().as(ClientTest.BILLING);
				billing.get("/v1/jobs/" + id).refusal(404, "not-found");
				billing.post("/v1/jobs/" + id + "/resume").refusal(404, "not-found");
				assertThat(billing.get("/v1/jobs").text()).doesNotContain(id);
				process.kill();
			}
			try (ServiceProcess process = ServiceProcess.start(redis, ORDERS, BILLING,
					"--pipeset.clients.orders.limits.max-bytes=10KB", spool)) {
				Service orders = process.service().as(ClientTest.ORDERS);
				assertThat(orders.post("/v1/jobs/" + id + "/resume").refusal(403, "forbidden"))
					.contains("pipeset.clients.orders.limits.max-bytes allows 10240");
				assertThat(orders.get("/v1/jobs/" + id).json().get("state").asString()).isEqualTo("interrupted");
				process.kill();
			}
			try (ServiceProcess process = ServiceProcess.start(redis, ORDERS, BILLING,
					"--pipeset.clients.orders.limits.rate-limit=400", spool)) {
				Service orders = process.service().as(ClientTest.ORDERS);
				Service billing = process.service().as(ClientTest.BILLING);
				assertThat(orders.get("/v1/jobs/" + id).json().get("state").asString()).isEqualTo("interrupted");
				billing.get("/v1/jobs/" + id + "/items").refusal(404, "not-found");
				billing.delete("/v1/jobs/" + id).refusal(404, "not-found");
				billing.post("/v1/jobs/" + id + "/resume").refusal(404, "not-found");
				assertThat(orders.post("/v1/jobs/" + id + "/resume").status()).isEqualTo(202);
				billing.get("/v1/jobs/" + id).refusal(404, "not-found");
				await().until(() -> orders.get("/v1/jobs/" + id).json().get("state").asString().equals("completed"));
				assertThat(Answer.counts(orders.get("/v1/jobs/" + id).json()).applied()).isEqualTo(1000);
			}
			try (ServiceProcess process = ServiceProcess.start(redis, spool)) {
				process.service().get("/v1/jobs/" + id).refusal(404, "not-found");
				assertThat(process.output())
					.anyMatch((line) -> line.contains("Callers: this machine only, without a key"));
			}
		}
	}

}
