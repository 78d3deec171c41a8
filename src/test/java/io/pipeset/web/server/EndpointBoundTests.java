package io.pipeset.web.server;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.OwnRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.context.ApplicationContext;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Every endpoint has a bound on its concurrent requests, so that no kind of calls takes
 * all threads. A new endpoint must be added here.
 */
@ServiceTest(properties = { "pipeset.limits.max-running-jobs=1", "pipeset.limits.max-waiting-jobs=0",
		"pipeset.security.scripts=true", "pipeset.pipeline.connect-timeout=1m" })
class EndpointBoundTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final FaultProxy proxy = own.proxy();

	private static final Map<Bound, List<String>> ENDPOINTS = Map
		.of(Bound.QUEUE,
				List.of("POST /pipeset/{count}", "POST /pipehset/{count}", "POST /piperpop/{count}",
						"POST /listinput/{key}", "POST /v1/jobs", "POST /v1/analyses", "POST /v1/tunings"),
				Bound.PERMITS,
				List.of("POST /v1/scripts", "POST /v1/jobs/{id}/ack", "POST /v1/jobs/{id}/nack",
						"GET /v1/jobs/{id}/items", "POST /v1/jobs/{id}/resume"),
				Bound.GATE,
				List.of("GET /actuator", "GET /actuator/health", "GET /actuator/health/**", "GET /actuator/info",
						"GET /actuator/metrics", "GET /actuator/metrics/{requiredMetricName}", "GET /actuator/pipeset",
						"GET /actuator/prometheus"),
				Bound.STREAMS, List.of("GET /v1/jobs/{id}/events"), Bound.AT_ONCE,
				List.of("GET /", "GET /v3/api-docs", "POST /listinput/{*rest}", "GET /v1/jobs", "GET /v1/sources",
						"GET /v1/jobs/{id}", "PATCH /v1/jobs/{id}", "DELETE /v1/jobs/{id}"));

	private static final String JOB = "/v1/jobs/01890000-0000-7000-8000-000000000000/";

	private final Service service;

	private final ApplicationContext context;

	private final List<Wire> open = new ArrayList<>();

	EndpointBoundTests(Service service, ApplicationContext context) {
		this.service = service;
		this.context = context;
	}

	@AfterEach
	void close() throws IOException {
		for (Wire wire : this.open) {
			wire.close();
		}
		await().until(() -> this.service.get("/actuator/pipeset").json().at("/jobsRunning").asInt() == 0);
	}

	@Test
	void everyEndpointIsListedHere() {
		Set<String> found = this.context.getBeansOfType(RequestMappingInfoHandlerMapping.class)
			.values()
			.stream()
			.flatMap((mapping) -> mapping.getHandlerMethods().keySet().stream())
			.flatMap(EndpointBoundTests::names)
			.collect(Collectors.toSet());
		assertThat(found).containsExactlyInAnyOrderElementsOf(
				ENDPOINTS.values().stream().flatMap(List::stream).collect(Collectors.toSet()));
	}

	@ParameterizedTest
	@MethodSource("queued")
	void everyJobNeedsAPermitOfTheQueue(String path) throws IOException {
		this.open.add(Wire.upload(this.service, "/v1/jobs").chunk("[\"SET\",\"a\",\"1\"]\n"));
		await().until(() -> own.redis().client().exists("a") == 1);
		Answer answer = (path.equals("/v1/jobs")) ? this.service.ndjson(path, "[\"SET\",\"b\",\"1\"]")
				: this.service.post(path);
		assertThat(answer.refusal(429, "limit")).contains("pipeset.limits.max-running-jobs=1");
		own.redis().client().del("a");
	}

	/** The service reads the body of a repeated request to compare it with the first. */
	@Test
	void aRepeatHoldsAPermitOfTheQueueWhileItsBodyIsRead() throws IOException {
		String record = "[\"SET\",\"c\",\"1\"]\n";
		String[] head = { "Content-Type: application/x-ndjson", "Transfer-Encoding: chunked",
				"Idempotency-Key: repeated" };
		try (Wire runs = Wire.post(this.service, "/v1/jobs", head)) {
			runs.chunk(record).lastChunk().answer().report();
		}
		Wire first = Wire.post(this.service, "/v1/jobs", head).chunk(record.substring(0, 5));
		this.open.add(first);
		await().until(() -> this.service.get("/actuator/pipeset").json().at("/jobsRunning").asInt() == 1);
		for (int i = 0; i < 3; i++) {
			try (Wire next = Wire.post(this.service, "/v1/jobs", head)) {
				assertThat(next.answer().refusal(429, "limit")).contains("pipeset.limits.max-running-jobs=1");
			}
		}
		assertThat(this.service.ndjson("/v1/jobs", record).refusal(429, "limit"))
			.contains("pipeset.limits.max-running-jobs=1");
		Answer repeat = first.chunk(record.substring(5)).lastChunk().answer();
		assertThat(repeat.header("Idempotency-Replayed")).isEqualTo("true");
		assertThat(repeat.status()).isEqualTo(200);
		await().untilAsserted(() -> this.service.ndjson("/v1/jobs", record).report());
		own.redis().client().flushall();
	}

	@Test
	void scriptsHaveEightPermitsAndBlockNoJobs() throws IOException {
		for (int i = 0; i < 8; i++) {
			this.open.add(Wire.post(this.service, "/v1/scripts", "Content-Length: 8").send("return"));
		}
		await().until(() -> script().status() == 429);
		Answer refused = script();
		assertThat(refused.refusal(429, "limit")).contains("There are 8 scripts under way");
		assertThat(refused.header("Retry-After")).matches("[1-9][0-9]*");
		this.service.post("/pipeset/3").report();
		assertThat(this.open.get(0).send(" 1").answer().status()).isEqualTo(200);
		assertThat(script().status()).isEqualTo(200);
	}

	@Test
	void callsForReceiptsHaveSixteenPermits() throws Exception {
		this.service.connect();
		proxy.stopAll();
		List<CompletableFuture<Answer>> calls = new ArrayList<>();
		try {
			for (int i = 0; i < 17; i++) {
				calls.add(this.service.sendAsync(
						this.service.request(JOB + ((i % 2 == 0) ? "ack" : "nack")).POST(BodyPublishers.noBody())));
			}
			CompletableFuture.anyOf(calls.toArray(CompletableFuture<?>[]::new)).get(30, TimeUnit.SECONDS);
			List<CompletableFuture<Answer>> answered = calls.stream().filter(CompletableFuture::isDone).toList();
			assertThat(answered).hasSize(1);
			assertThat(answered.get(0).join().refusal(429, "limit"))
				.contains("There are 16 calls for receipts under way");
		}
		finally {
			proxy.heal();
		}
		for (CompletableFuture<Answer> call : calls) {
			assertThat(call.get(90, TimeUnit.SECONDS).status()).isIn(410, 429, 503);
		}
		this.service.post(JOB + "ack").refusal(410, "gone");
	}

	@Test
	void anErrorIsAnsweredAtOnce() {
		this.service.get("/error").refusal(404, "not-found");
	}

	private Answer script() {
		return this.service.send(this.service.request("/v1/scripts").POST(BodyPublishers.ofString("return 1")));
	}

	static Stream<String> queued() {
		return ENDPOINTS.get(Bound.QUEUE)
			.stream()
			.map((endpoint) -> endpoint.replace("POST ", "").replace("{count}", "3").replace("{key}", "list"));
	}

	private static Stream<String> names(RequestMappingInfo mapping) {
		String methods = mapping.getMethodsCondition()
			.getMethods()
			.stream()
			.map(Enum::name)
			.collect(Collectors.joining());
		return mapping.getPatternValues().stream().map((path) -> (methods + " " + path).strip());
	}

	/** The bound on the concurrent requests of an endpoint. */
	private enum Bound {

		/** A permit of the queue of jobs. */
		QUEUE,

		/** Permits for some concurrent calls, apart from those for jobs. */
		PERMITS,

		/** The threads of the web server for Actuator. */
		GATE,

		/** A number of concurrent streams: see {@code JobEventsTests}. */
		STREAMS,

		/** It never waits. */
		AT_ONCE

	}

}
