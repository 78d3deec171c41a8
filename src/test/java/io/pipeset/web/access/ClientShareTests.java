package io.pipeset.web.access;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** If there are several clients, none can use all of the shared resources. */
@ServiceTest(properties = { ServiceTest.KEY + "=" + ClientTest.BILLING,
		"pipeset.clients.orders.key-sha256=9d00f085fa34266c949e527a29d62334c2aa67b652266e3e42de6cbcdeab2144",
		"pipeset.clients.orders.scripts=true", "pipeset.clients.billing.scripts=true",
		"pipeset.clients.billing.key-sha256=f7c28d1179e4b9f9b5df3f63b32285089c8f28b69f930e0a4e0e4b43e23d6ca6",
		"pipeset.limits.max-running-jobs=8", "pipeset.limits.max-waiting-jobs=0", "pipeset.limits.max-async-jobs=4",
		"pipeset.limits.max-event-streams=4", "pipeset.spool.directory=target/spool/shares",
		"pipeset.spool.max-bytes=200KB" })
class ClientShareTests {

	private static final String SET = "[\"SET\",\"a\",\"v\"]\n";

	private final Service billing;

	private final Service orders;

	private final List<Wire> open = new ArrayList<>();

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ClientShareTests(Service service) {
		this.billing = service;
		this.orders = service.as(ClientTest.ORDERS);
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void aClientHasThreeQuartersOfTheJobsThatMayRun() throws IOException {
		for (int i = 0; i < 6; i++) {
			upload().chunk(SET);
		}
		await().until(() -> running() == 6);
		assertThat(this.orders.ndjson("/v1/jobs", SET).refusal(429, "limit")).isEqualTo("The client 'orders' has 6 jobs"
				+ " that are uploaded, wait or run, three quarters of pipeset.limits.max-running-jobs=8, because"
				+ " pipeset.clients.orders.limits.max-jobs is not set: send the job again later");
		assertThat(Answer.counts(this.billing.ndjson("/v1/jobs", SET).report()).applied()).isOne();
		end();
		await().until(() -> this.orders.ndjson("/v1/jobs", SET).status() == 200);
	}

	@Test
	void aClientHasThreeQuartersOfTheAsynchronousJobs() throws IOException {
		double before = spooled();
		for (int i = 0; i < 3; i++) {
			upload("Prefer: respond-async").chunk(SET);
		}
		await().until(() -> spooled() == before + 3 * SET.length());
		assertThat(async(this.orders, SET).refusal(429, "limit"))
			.startsWith("The client 'orders' has 3 of 4 asynchronous jobs, and leaves the others to other clients");
		assertThat(async(this.billing, SET).status()).isEqualTo(202);
		end();
		await().until(() -> async(this.orders, SET).status() == 202);
	}

	@Test
	void aClientHasThreeQuartersOfTheStreamsOfEvents() throws IOException {
		upload().chunk(SET);
		String job = this.orders.awaitJob("running");
		Wire ofOther = this.billing
			.keep(Wire.post(this.billing, "/v1/jobs", "Authorization: Bearer " + ClientTest.BILLING,
					"Content-Type: " + Service.NDJSON, "Transfer-Encoding: chunked"));
		this.open.add(ofOther.chunk(SET));
		String job2 = this.billing.awaitJob("running");
		for (int i = 0; i < 3; i++) {
			follow(job, ClientTest.ORDERS);
		}
		try (Wire wire = events(job, ClientTest.ORDERS)) {
			assertThat(wire.line()).isEqualTo("HTTP/1.1 429 ");
		}
		assertThat(this.orders.get("/v1/jobs/" + job + "/events").refusal(429, "limit"))
			.startsWith("The client 'orders' has 3 of 4 streams of events, and leaves the others to other clients");
		follow(job2, ClientTest.BILLING);
		end();
		await().until(() -> this.orders.get("/v1/jobs/" + job + "/events").status() == 200);
	}

	@Test
	void aClientMayLoadThreeQuartersOfTheScriptsAtOnce() throws IOException {
		for (int i = 0; i < 6; i++) {
			Wire wire = this.billing.keep(Wire.post(this.orders, "/v1/scripts",
					"Authorization: Bearer " + ClientTest.ORDERS, "Expect: 100-continue", "Content-Length: 8"));
			assertThat(wire.line()).isEqualTo("HTTP/1.1 100 ");
			assertThat(wire.line()).isEmpty();
			this.open.add(wire.send("r"));
		}
		assertThat(this.orders.post("/v1/scripts", "text/plain", "return 1").refusal(429, "limit"))
			.startsWith("The client 'orders' has 6 of 8 scripts under way, and leaves the others to other clients");
		assertThat(this.billing.post("/v1/scripts", "text/plain", "return 1").status()).isEqualTo(200);
		for (Wire wire : this.open) {
			assertThat(wire.send("eturn 1").answer().status()).isEqualTo(200);
		}
	}

	@Test
	void aClientHasThreeQuartersOfTheSpoolAndReplacesItsOwnJobs() {
		String first = ended(async(this.orders, bad(70_000)), this.orders);
		String ofOther = ended(async(this.billing, bad(30_000)), this.billing);
		String second = ended(async(this.orders, bad(90_000)), this.orders);
		this.orders.get("/v1/jobs/" + first + "/items").refusal(410, "gone");
		assertThat(this.orders.get("/v1/jobs/" + second + "/items").text().lines()).hasSize(1);
		assertThat(this.billing.get("/v1/jobs/" + ofOther + "/items").text().lines()).hasSize(1);
		assertThat(async(this.orders, bad(160_000)).refusal(507, "insufficient-storage"))
			.contains("of the client 'orders'", "of the 153600 that one client may use");
		assertThat(this.billing.get("/v1/jobs/" + ofOther + "/items").text().lines()).hasSize(1);
	}

	private Wire upload(String... headers) throws IOException {
		List<String> all = new ArrayList<>(List.of(headers));
		all.addAll(List.of("Authorization: Bearer " + ClientTest.ORDERS, "Content-Type: " + Service.NDJSON,
				"Transfer-Encoding: chunked"));
		Wire wire = this.billing.keep(Wire.post(this.orders, "/v1/jobs", all.toArray(String[]::new)));
		this.open.add(wire);
		return wire;
	}

	private void follow(String job, String key) throws IOException {
		Wire wire = this.billing.keep(events(job, key));
		assertThat(wire.line()).isEqualTo("HTTP/1.1 200 ");
		this.open.add(wire);
	}

	private Wire events(String job, String key) throws IOException {
		return Wire.open(this.billing, "GET /v1/jobs/" + job + "/events HTTP/1.1", "Host: localhost",
				"Authorization: Bearer " + key, "Connection: close");
	}

	private void end() throws IOException {
		for (Wire wire : this.open) {
			wire.close();
		}
	}

	private int running() {
		return this.billing.get("/actuator/pipeset").json().get("jobsRunning").asInt();
	}

	private double spooled() {
		return this.billing.get("/actuator/metrics/pipeset.spool.used").json().at("/measurements/0/value").asDouble(-1);
	}

	/** A record that is rejected, so that its items are kept. */
	private static String bad(int bytes) {
		return "[\"NO\",\"k\"]" + " ".repeat(bytes) + "\n";
	}

	private static Answer async(Service client, String body) {
		return client.send(client.request("/v1/jobs")
			.header("Prefer", "respond-async")
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString(body)));
	}

	private static String ended(Answer answer, Service client) {
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		await().until(() -> client.get(answer.header("Location")).headers().firstValue("Retry-After").isEmpty());
		return answer.json().get("jobId").asString();
	}

}
