package io.pipeset.web.access;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A client can do only what its policy allows, and each refusal names the property that
 * forbids the call.
 */
@ClientTest
class ClientPolicyTests {

	private final Service billing;

	private final Service orders;

	private final Service operator;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ClientPolicyTests(Service service) {
		this.billing = service;
		this.orders = service.as(ClientTest.ORDERS);
		this.operator = service.as(ClientTest.OPERATOR);
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void comparingNeedsVerifyAmongTheOperations() {
		assertThat(this.orders.ndjson("/v1/jobs?verify=true", "[\"SET\",\"order:1\",\"v\"]").refusal(403, "forbidden"))
			.contains("pipeset.clients.orders.operations");
		assertThat(this.billing.ndjson("/v1/jobs?verify=true", "[\"SET\",\"order:1\",\"v\"]")
			.report()
			.at("/verified/missing")
			.asInt()).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipehset/5", "/listinput/order:1", "/v1/jobs?op=HSET", "/v1/jobs?op=DEL",
			"/v1/jobs?from=scan&match=*&op=DEL", "/v1/jobs?from=scan&match=*&op=PERSIST" })
	void aRequestForAForbiddenOperationIsRefused(String call) {
		Answer answer = (call.contains("from=") || !call.contains("?")) ? this.orders.post(call)
				: this.orders.ndjson(call, "[]");
		assertThat(answer.refusal(403, "forbidden")).contains("'orders'", "pipeset.clients.orders.operations",
				"SET, RPOP, ", "UNLINK");
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void aLoadReplacesOnlyTheKeysOfItsClient() {
		this.redis.set("order:old", "v");
		this.redis.set("other:old", "theirs");
		JsonNode report = this.orders.ndjson("/v1/jobs?replace=*", "[\"SET\",\"order:1\",\"v\"]").report();
		assertThat(report.at("/replaced").toString()).isEqualTo("{\"kept\":1,\"removed\":1}");
		assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("order:1", "other:old");
	}

	@Test
	void replacingKeysNeedsTheRightToSweepAndUnlink() {
		assertThat(this.operator.ndjson("/v1/jobs?replace=*", "[\"SET\",\"a\",\"v\"]").refusal(403, "forbidden"))
			.contains("pipeset.clients.operator.sweeps");
		assertThat(this.billing.as(ClientTest.ANALYST)
			.ndjson("/v1/jobs?replace=*", "[\"SET\",\"a\",\"v\"]")
			.refusal(403, "forbidden")).contains("UNLINK", "pipeset.clients.analyst.operations");
	}

	@Test
	void aRecordOfAnotherOperationIsForbiddenAndTheOthersRun() {
		JsonNode report = this.orders
			.ndjson("/v1/jobs", "[\"SET\",\"order:1\",\"v\"]", "[\"DEL\",\"order:1\"]",
					"{\"op\":\"LPUSH\",\"key\":\"order:2\",\"args\":[\"v\"]}", "[\"SET\",\"order:3\",\"v\"]")
			.report();
		assertThat(forbidden(report)).hasSize(2)
			.allMatch(
					(message) -> message.contains("'orders'") && message.contains("pipeset.clients.orders.operations"));
		assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("order:1", "order:3");
	}

	@ParameterizedTest
	@ValueSource(strings = { "[\"SET\",\"other:1\",\"v\"]", "[\"SET\",\"order\",\"v\"]", "[\"SET\",\"\",\"v\"]",
			"[\"SET\",\"ORDER:1\",\"v\"]", "[\"SET\",\" order:1\",\"v\"]", "[\"SET\",\"cart:e\",\"v\"]",
			"[\"UNLINK\",\"order:1\",\"other:1\"]", "[\"UNLINK\",\"other:1\",\"order:1\"]",
			"{\"op\":\"SET\",\"key\":\"other:1\",\"value\":\"v\",\"ttl\":100}",
			"{\"op\":\"SET\",\"encoding\":\"base64\",\"key\":\"b3RoZXI6MQ==\",\"value\":\"dg==\"}",
			"{\"op\":\"RPOP\",\"key\":\"list\"}", "[\"SET\",\"pipeset:x\",\"v\"]" })
	void aKeyWithAnotherPrefixIsForbiddenAndNotSent(String record) {
		this.redis.set("other:1", "theirs");
		this.redis.rpush("list", "theirs");
		for (String call : new String[] { "/v1/jobs", "/v1/jobs?results=all", "/v1/jobs?dryRun=true",
				"/v1/jobs?atomic=batch", "/v1/jobs?coalesce=off" }) {
			JsonNode report = this.orders.ndjson(call, record).report();
			assertThat(forbidden(report)).singleElement()
				.satisfies((message) -> assertThat(message).containsAnyOf("pipeset.clients.orders.key-prefixes",
						"'pipeset:'"));
			assertThat(Answer.counts(report).rejected()).isEqualTo(1);
		}
		assertThat(this.redis.get("other:1")).isEqualTo("theirs");
		assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("other:1", "list");
		assertThat(this.redis.llen("list")).isEqualTo(1);
	}

	@Test
	void aPrefixMayHaveAnyCharacters() {
		this.orders.ndjson("/v1/jobs", "[\"SET\",\"cart:\u00e9\",\"v\"]", "[\"SET\",\"cart:\u00e91\",\"v\"]").report();
		assertThat(this.redis.dbsize()).isEqualTo(2);
	}

	@Test
	void generatedKeysAndKeysOfTemplatesAreChecked() {
		assertThat(Answer.counts(this.orders.post("/pipeset/10").report()).rejected()).isEqualTo(10);
		assertThat(Answer
			.counts(this.orders
				.post("/v1/jobs?op=SET&key=%7Bid%7D&value=%7Bv%7D", "text/csv", "id,v\norder:1,a\nother:2,b\n")
				.report())
			.applied()).isEqualTo(1);
		assertThat(this.redis.keys("*")).containsExactly("order:1");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "&reliable=true", "&until=empty" })
	void aListWithAnotherPrefixIsNotPopped(String settings) {
		this.redis.rpush("mylist9", "a", "b");
		this.redis.rpush("order:list", "c");
		assertThat(Answer.counts(this.orders.post("/piperpop/2?key=mylist9" + settings).report()).applied()).isZero();
		assertThat(this.redis.llen("mylist9")).isEqualTo(2);
		assertThat(Answer.counts(this.orders.post("/piperpop/1?key=order:list" + settings).report()).applied())
			.isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "*", "order:*", "*1" })
	void aSweepSkipsTheKeysOfOtherClients(String match) {
		for (int i = 0; i < 300; i++) {
			this.redis.set("order:" + i, "v");
			this.redis.set("other:" + i, "v");
		}
		JsonNode report = this.orders.post("/v1/jobs?from=scan&op=UNLINK&results=all&match=" + match).report();
		assertThat(report.toString()).doesNotContain("other:");
		assertThat(Answer.counts(report).rejected()).isZero();
		assertThat(Answer.counts(report).applied()).isPositive();
		assertThat(this.redis.keys("other:*")).hasSize(300);
		assertThat(this.redis.keys("order:" + match.replace("order:", ""))).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "/v1/jobs?from=scan&match=*&op=UNLINK, sweeps", "/v1/analyses, analyses", "/v1/tunings, tunings",
			"/v1/scripts, scripts", "/v1/analyses?top=nonsense, analyses" })
	void aCallWithoutTheRightIsRefusedWithItsName(String call, String right) {
		assertThat(this.operator.post(call).refusal(403, "forbidden")).isEqualTo(
				"The client 'operator' has no right to " + right + ": pipeset.clients.operator." + right + " is false");
		assertThat(this.operator
			.send(this.operator.request(call).header("Prefer", "respond-async").POST(BodyPublishers.noBody()))
			.status()).isEqualTo(403);
	}

	@Test
	void aClientMayUseItsRights() {
		this.redis.set("order:1", "v");
		assertThat(this.billing.post("/v1/analyses").json().get("keys").asLong()).isEqualTo(1);
		String sha = this.billing.post("/v1/scripts", "text/plain", "return redis.call('SET', KEYS[1], ARGV[1])")
			.json()
			.get("sha")
			.asString();
		String run = "[\"EVALSHA\",\"" + sha + "\",\"1\",\"order:2\",\"v\"]";
		this.billing.ndjson("/v1/jobs", run).report();
		assertThat(forbidden(this.orders.ndjson("/v1/jobs", run).report())).singleElement()
			.asString()
			.contains("pipeset.clients.orders.scripts");
		assertThat(this.billing.post("/v1/tunings?records=1000&runs=1&batchSizes=1000&flushes=close&concurrencies=1")
			.json()
			.get("state")
			.asString()).isEqualTo("completed");
	}

	@Test
	void aClientWithoutOperationsRunsNoRecord() {
		for (String call : new String[] { "/v1/jobs", "/v1/jobs?dryRun=true", "/v1/jobs?op=SET", "/pipeset/1" }) {
			assertThat(this.operator.ndjson(call, "[\"SET\",\"a\",\"v\"]").refusal(403, "forbidden"))
				.contains("The client 'operator' may not run ", "pipeset.clients.operator.operations allows none");
		}
		assertThat(this.operator.post("/piperpop/1?key=a").refusal(403, "forbidden")).contains("allows none");
		assertThat(this.redis.dbsize()).isZero();
	}

	/** Otherwise it would keep its permit until its body has arrived. */
	@ParameterizedTest
	@ValueSource(strings = { "Prefer: respond-async", "Idempotency-Key: none", "X-None: x" })
	void aClientWithoutOperationsIsRefusedBeforeItsBody(String header) throws IOException {
		try (Wire wire = Wire.post(this.operator, "/v1/jobs", "Authorization: Bearer " + ClientTest.OPERATOR,
				"Content-Type: application/x-ndjson", "Transfer-Encoding: chunked", header)) {
			assertThat(wire.answer().refusal(403, "forbidden")).contains("pipeset.clients.operator.operations");
		}
	}

	@Test
	void aRequestForAForbiddenScriptIsRefused() {
		assertThat(this.orders.ndjson("/v1/jobs?op=EVALSHA", "[]").refusal(403, "forbidden"))
			.contains("pipeset.clients.orders.scripts is false");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/1001", "/piperpop/1001?key=order:l" })
	void aJobWithTooLargeACountDoesNotStart(String call) {
		assertThat(this.orders.post(call).refusal(403, "forbidden"))
			.isEqualTo("The client 'orders' may not run a job of 1001 records:"
					+ " pipeset.clients.orders.limits.max-records allows 1000");
		this.orders.post("/pipeset/1001", Service.NDJSON, "x").refusal(403, "forbidden");
	}

	@Test
	void aJobEndsAtTheRecordLimitOfItsClient() {
		JsonNode job = this.orders.post("/v1/jobs?concurrency=2", Service.NDJSON, sets(1001))
			.job(413, "limit", "failed");
		assertThat(Answer.counts(job).applied()).isEqualTo(1000);
		assertThat(job.get("nextIndex").asLong()).isEqualTo(1000);
		assertThat(this.redis.dbsize()).isEqualTo(1000);
		assertThat(this.orders.post("/v1/jobs", Service.NDJSON, sets(1001)).json().get("detail").asString())
			.contains("pipeset.clients.orders.limits.max-records allows 1000");
		assertThat(Answer.counts(this.orders.post("/v1/jobs", Service.NDJSON, sets(1000)).report()).applied())
			.isEqualTo(1000);
		this.redis.set("order:1001", "v");
		JsonNode sweep = this.orders.post("/v1/jobs?from=scan&match=*&op=UNLINK").job(413, "limit", "failed");
		assertThat(Answer.counts(sweep).applied()).isEqualTo(1000);
	}

	@Test
	void aTooLargeBodyIsRefusedWithTheClientsProperty() throws IOException {
		String record = "[\"SET\",\"order:1\",\"" + "x".repeat(1000) + "\"]\n";
		String body = record.repeat(65);
		assertThat(this.orders.post("/v1/jobs", Service.NDJSON, body).refusal(413, "limit")).isEqualTo(
				"The body has " + body.length() + " bytes; pipeset.clients.orders.limits.max-bytes allows 65536");
		assertThat(this.orders
			.upload("/v1/jobs", Service.NDJSON, new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)))
			.problem(413, "limit")
			.get("detail")
			.asString()).contains("pipeset.clients.orders.limits.max-bytes allows 65536");
		ByteArrayOutputStream gzip = new ByteArrayOutputStream();
		try (GZIPOutputStream out = new GZIPOutputStream(gzip)) {
			out.write(body.getBytes(StandardCharsets.UTF_8));
		}
		assertThat(this.orders
			.send(this.orders.request("/v1/jobs")
				.header("Content-Type", Service.NDJSON)
				.header("Content-Encoding", "gzip")
				.POST(BodyPublishers.ofByteArray(gzip.toByteArray())))
			.problem(413, "limit")
			.get("detail")
			.asString()).contains("inflated", "pipeset.clients.orders.limits.max-bytes allows 65536");
	}

	@Test
	void aJobHasTheRateOfItsClientUnlessItAsksForLess() throws IOException {
		assertThat(this.orders.ndjson("/v1/jobs", sets(1)).report().at("/settings/rateLimit").asLong()).isEqualTo(5000);
		assertThat(this.orders.ndjson("/v1/jobs?rateLimit=100", sets(1)).report().at("/settings/rateLimit").asLong())
			.isEqualTo(100);
		assertThat(this.orders.ndjson("/v1/jobs?rateLimit=5001", sets(1)).refusal(403, "forbidden"))
			.contains("rateLimit=5001", "pipeset.clients.orders.limits.rate-limit allows 5000");
		try (Wire wire = Wire.post(this.orders, "/v1/jobs", "Authorization: Bearer " + ClientTest.ORDERS,
				"Content-Type: application/x-ndjson", "Transfer-Encoding: chunked")) {
			wire.chunk(sets(1));
			String id = this.orders.awaitJob("running");
			for (String pace : new String[] { "5001", "none" }) {
				assertThat(this.orders.patch("/v1/jobs/" + id + "?rateLimit=" + pace).refusal(403, "forbidden"))
					.contains("pipeset.clients.orders.limits.rate-limit allows 5000");
			}
			assertThat(this.orders.patch("/v1/jobs/" + id + "?rateLimit=50").status()).isEqualTo(200);
			wire.lastChunk().answer().report();
		}
	}

	@Test
	void aClientWithTooManyJobsIsRefusedAndOthersRun() throws IOException {
		List<Wire> uploads = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			uploads
				.add(this.billing.keep(Wire.post(this.orders, "/v1/jobs", "Authorization: Bearer " + ClientTest.ORDERS,
						"Content-Type: application/x-ndjson", "Transfer-Encoding: chunked")));
			uploads.get(i).chunk(sets(1));
		}
		await().until(() -> this.orders.get("/v1/jobs?state=running").json().get("jobs").size() == 2);
		Answer third = this.orders.ndjson("/v1/jobs", sets(1));
		assertThat(third.refusal(429, "limit")).contains("'orders'", "pipeset.clients.orders.limits.max-jobs");
		assertThat(third.header("Retry-After")).isNotEmpty();
		double spooled = spooled();
		this.orders
			.send(this.orders.request("/v1/jobs")
				.header("Prefer", "respond-async")
				.header("Content-Type", Service.NDJSON)
				.POST(BodyPublishers.ofString(sets(1))))
			.refusal(429, "limit");
		await().untilAsserted(() -> assertThat(spooled()).as("nothing is left of a refused upload").isEqualTo(spooled));
		this.billing.ndjson("/v1/jobs", sets(1)).report();
		uploads.get(0).lastChunk().answer().report();
		await().untilAsserted(() -> this.orders.ndjson("/v1/jobs", sets(1)).report());
		uploads.get(1).lastChunk().answer().report();
	}

	@Test
	void aRepeatCountsAsAJobWhileItsBodyIsRead() throws IOException {
		String[] head = { "Authorization: Bearer " + ClientTest.ORDERS, "Content-Type: application/x-ndjson",
				"Transfer-Encoding: chunked", "Idempotency-Key: repeated" };
		String body = sets(1);
		try (Wire first = Wire.post(this.orders, "/v1/jobs", head)) {
			first.chunk(body).lastChunk().answer().report();
		}
		List<Wire> repeats = new ArrayList<>();
		for (int i = 0; i < 2; i++) {
			repeats.add(this.billing.keep(Wire.post(this.orders, "/v1/jobs", head)).chunk(body.substring(0, 5)));
		}
		await().until(() -> this.operator.get("/actuator/pipeset").json().get("jobsRunning").asInt() == 2);
		assertThat(this.orders.ndjson("/v1/jobs", body).refusal(429, "limit"))
			.contains("pipeset.clients.orders.limits.max-jobs");
		this.billing.ndjson("/v1/jobs", body).report();
		for (Wire repeat : repeats) {
			assertThat(repeat.chunk(body.substring(5)).lastChunk().answer().header("Idempotency-Replayed"))
				.isEqualTo("true");
		}
		await().untilAsserted(() -> this.orders.ndjson("/v1/jobs", body).report());
	}

	@Test
	void anAsynchronousUploadCountsAsAJobFromItsStart() throws IOException {
		double spooled = spooled();
		List<Wire> uploads = new ArrayList<>();
		String body = sets(1);
		for (int i = 0; i < 2; i++) {
			uploads.add(this.billing.keep(Wire.post(this.orders, "/v1/jobs",
					"Authorization: Bearer " + ClientTest.ORDERS, "Content-Type: application/x-ndjson",
					"Prefer: respond-async", "Content-Length: " + body.length())));
			uploads.get(i).send(body.substring(0, 5));
		}
		await().until(() -> spooled() == spooled + 2 * 5);
		assertThat(this.orders.ndjson("/v1/jobs", body).refusal(429, "limit"))
			.contains("pipeset.clients.orders.limits.max-jobs");
		this.orders
			.send(this.orders.request("/v1/jobs")
				.header("Prefer", "respond-async")
				.header("Content-Type", Service.NDJSON)
				.POST(BodyPublishers.ofString(body)))
			.refusal(429, "limit");
		uploads.get(0).close();
		await().untilAsserted(() -> this.orders.ndjson("/v1/jobs", body).report());
		assertThat(uploads.get(1).send(body.substring(5)).answer().status()).isEqualTo(202);
		await().untilAsserted(() -> assertThat(spooled()).isEqualTo(spooled));
	}

	@Test
	void anAnalysisHasTheRateOfItsClientFromItsFirstKeyOn() {
		for (int i = 0; i < 100; i++) {
			this.redis.set("key:" + i, "v");
		}
		this.redis.configResetstat();
		assertThat(
				this.billing.as(ClientTest.ANALYST).post("/v1/analyses?scanCount=100000").json().get("keys").asLong())
			.isEqualTo(100);
		Matcher scans = Pattern.compile("cmdstat_scan:calls=(\\d+)").matcher(this.redis.info("commandstats"));
		assertThat(scans.find()).isTrue();
		assertThat(Integer.parseInt(scans.group(1))).as("SCAN returns a few keys at a time, despite scanCount")
			.isGreaterThan(4);
	}

	@Test
	void metersHaveTheNameOfTheClient() {
		this.orders.ndjson("/v1/jobs", sets(3)).report();
		this.billing.ndjson("/v1/jobs", sets(2)).report();
		String scrape = this.operator.get("/actuator/prometheus").text();
		assertThat(scrape.lines())
			.anyMatch((line) -> line.startsWith("pipeset_records_total{client=\"orders\",")
					&& line.contains("op=\"SET\"") && line.contains("outcome=\"applied\""))
			.anyMatch((line) -> line.startsWith("pipeset_job_seconds_count{client=\"billing\","))
			.noneMatch((line) -> line.contains("client=\"none\"") && line.startsWith("pipeset_job_seconds_count")
					&& !line.endsWith(" 0"));
	}

	private double spooled() {
		return this.operator.get("/actuator/metrics/pipeset.spool.used").json().at("/measurements/0/value").asDouble();
	}

	private static String sets(int count) {
		StringBuilder records = new StringBuilder();
		for (int i = 0; i < count; i++) {
			records.append("[\"SET\",\"order:").append(i).append("\",\"v\"]\n");
		}
		return records.toString();
	}

	private static List<String> forbidden(JsonNode report) {
		List<String> messages = new ArrayList<>();
		report.get("items").forEach((item) -> {
			if (item.at("/error/code").asString("").equals("FORBIDDEN")) {
				messages.add(item.at("/error/message").asString());
			}
		});
		return messages;
	}

}
