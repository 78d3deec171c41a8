package io.pipeset.web.access;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.HashMap;
import java.util.Map;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.Wire;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A job, its receipt and its Idempotency-Key belong to one client. Other clients cannot
 * use them, even if they know the id.
 */
@ClientTest
class ClientJobTests {

	private static final String SET = "[\"SET\",\"order:1\",\"v\"]\n";

	private final Service billing;

	private final Service orders;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ClientJobTests(Service service) {
		this.billing = service;
		this.orders = service.as(ClientTest.ORDERS);
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void onlyItsClientSeesARunningJob() throws IOException {
		try (Wire wire = Wire.post(this.orders, "/v1/jobs?rateLimit=100", "Authorization: Bearer " + ClientTest.ORDERS,
				"Content-Type: application/x-ndjson", "Transfer-Encoding: chunked")) {
			wire.chunk(SET);
			String id = this.orders.awaitJob("running");
			assertForeign(this.billing, id);
			assertThat(this.billing.get("/v1/jobs?state=running").json().get("jobs")).isEmpty();
			JsonNode look = this.orders.as(ClientTest.NEXT_OF_ORDERS).get("/v1/jobs/" + id).json();
			assertThat(look.get("state").asString()).isEqualTo("running");
			assertThat(look.at("/settings/rateLimit").asLong()).isEqualTo(100);
			wire.lastChunk().answer().report();
		}
	}

	@Test
	void onlyItsClientSeesAnEndedJobAndItsFailures() {
		Answer taken = this.orders.send(async(this.orders, "/v1/jobs", SET + "[\"SET\",\"theirs\",\"secret\"]\n"));
		assertThat(taken.status()).as(taken.text()).isEqualTo(202);
		String id = taken.json().get("jobId").asString();
		await().until(() -> this.orders.get("/v1/jobs/" + id).json().get("state").asString().equals("completed"));
		assertThat(this.orders.get("/v1/jobs/" + id + "/items").text()).contains("secret", "FORBIDDEN");
		assertForeign(this.billing, id);
		assertThat(this.billing.get("/v1/jobs").text()).doesNotContain(id);
		assertThat(this.orders.get("/v1/jobs").text()).contains(id);
	}

	@Test
	void onlyItsClientSeesAnAnalysis() {
		String id = this.billing.post("/v1/analyses").json().get("analysisId").asString();
		assertThat(this.billing.get("/v1/jobs/" + id).status()).isEqualTo(200);
		assertForeign(this.orders, id);
	}

	private static void assertForeign(Service other, String id) {
		String missing = other.get("/v1/jobs/01a20347-d60e-7000-8000-000000000000").refusal(404, "not-found");
		for (String call : new String[] { "", "/events", "/items" }) {
			assertThat(other.get("/v1/jobs/" + id + call).refusal(404, "not-found"))
				.isEqualTo(missing.replace("01a20347-d60e-7000-8000-000000000000", id));
		}
		other.delete("/v1/jobs/" + id).refusal(404, "not-found");
		other.patch("/v1/jobs/" + id + "?rateLimit=10").refusal(404, "not-found");
		other.post("/v1/jobs/" + id + "/resume").refusal(404, "not-found");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/ack", "/nack" })
	void onlyItsClientUsesAReceipt(String call) {
		this.redis.rpush("order:list", "a", "b");
		String id = this.orders.post("/piperpop/2?key=order:list&reliable=true").report().get("jobId").asString();
		for (String other : new String[] { "/ack", "/nack" }) {
			String unknown = this.billing.post("/v1/jobs/01a20347-d60e-7000-8000-000000000000" + other)
				.refusal(410, "gone");
			assertThat(this.billing.post("/v1/jobs/" + id + other).refusal(410, "gone")).isEqualTo(unknown);
		}
		assertThat(this.redis.exists("order:list")).isZero();
		assertThat(this.redis.llen("pipeset:pop:" + id)).isEqualTo(2);
		assertThat(this.orders.post("/v1/jobs/" + id + call).status()).isEqualTo(204);
		assertThat(this.redis.llen("order:list")).isEqualTo(call.equals("/nack") ? 2 : 0);
	}

	@Test
	void anIdempotencyKeyBelongsToItsClient() {
		Answer first = this.orders.send(keyed(this.orders, SET));
		first.report();
		Answer others = this.billing.send(keyed(this.billing, SET));
		others.report();
		assertThat(others.json().get("jobId")).isNotEqualTo(first.json().get("jobId"));
		assertThat(others.header("Idempotency-Replayed")).isEmpty();
		Answer repeat = this.orders.as(ClientTest.NEXT_OF_ORDERS)
			.send(keyed(this.orders.as(ClientTest.NEXT_OF_ORDERS), SET));
		assertThat(repeat.header("Idempotency-Replayed")).isEqualTo("true");
		assertThat(repeat.json().get("jobId")).isEqualTo(first.json().get("jobId"));
	}

	private static HttpRequest.Builder keyed(Service service, String body) {
		return service.request("/v1/jobs")
			.header("Idempotency-Key", "one")
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString(body));
	}

	@Test
	void anotherInstanceShowsAJobToItsClientOnly() {
		Map<String, String> data = new HashMap<>(TestRedis.shared().properties());
		try (Replica replica = Replica.start(TestRedis.shared(), data,
				"pipeset.clients.orders.key-sha256=9d00f085fa34266c949e527a29d62334c2aa67b652266e3e42de6cbcdeab2144",
				"pipeset.clients.billing.key-sha256=f7c28d1179e4b9f9b5df3f63b32285089c8f28b69f930e0a4e0e4b43e23d6ca6")) {
			Service there = replica.service().as(ClientTest.ORDERS);
			String id = there.send(async(there, "/v1/jobs?rateLimit=1", SET.repeat(1000)))
				.json()
				.get("jobId")
				.asString();
			await().untilAsserted(() -> assertThat(this.orders.get("/v1/jobs/" + id).json().get("state").asString())
				.isEqualTo("running"));
			assertForeign(this.billing, id);
			assertThat(this.billing.get("/v1/jobs").text()).doesNotContain(id);
			assertThat(this.orders.get("/v1/jobs?limit=1").text()).contains(id);
			assertThat(this.orders.delete("/v1/jobs/" + id).status()).isEqualTo(202);
			await().untilAsserted(() -> assertThat(this.orders.get("/v1/jobs/" + id).json().get("state").asString())
				.isEqualTo("cancelled"));
			assertForeign(this.billing, id);
		}
	}

	private static HttpRequest.Builder async(Service service, String call, @Nullable String body) {
		return service.request(call)
			.header("Prefer", "respond-async")
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString(String.valueOf(body)));
	}

}
