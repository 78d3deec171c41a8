package io.pipeset.web.server;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * If a caller disconnects while its job still waits for records, the job ends. If the job
 * has all records, it runs to its end.
 */
@ServiceTest
class GoneCallerTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	private final RedisCommands<String, String> redis = own.redis().client();

	GoneCallerTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.service.connect();
		this.redis.flushall();
	}

	@ParameterizedTest
	@EnumSource
	void aJobEndsHoweverItsCallerDisconnects(Departure departure) throws IOException {
		double cancelled = jobs("cancelled");
		try (Wire wire = Wire.post(this.service, "/pipeset/10000000?rateLimit=1", "Content-Length: 0")) {
			await().until(() -> this.redis.exists("keyA00000") == 1);
			departure.leave(wire);
			await().until(() -> running() == 0);
		}
		assertThat(jobs("cancelled")).isEqualTo(cancelled + 1);
		assertThat(this.redis.dbsize()).isLessThan(1000);
	}

	@Test
	void jobsThatWaitForRecordsAreAnsweredAsCancelled() throws IOException {
		fill(1000);
		List<String> calls = List.of("/pipeset/10000000?rateLimit=1", "/pipehset/10000000?rateLimit=1&concurrency=4",
				"/listinput/l?count=10000000&rateLimit=1", "/piperpop/100000?key=list&rateLimit=1",
				"/piperpop/100000?key=list&rateLimit=1&reliable=true",
				"/v1/jobs?from=scan&match=*&op=PERSIST&rateLimit=1");
		Map<String, Wire> wires = new LinkedHashMap<>();
		for (String call : calls) {
			wires.put(call, this.service.keep(Wire.post(this.service, call, "Content-Length: 0")));
		}
		// The service checks for disconnected callers once a second.
		await().until(() -> running() == calls.size());
		for (Wire wire : wires.values()) {
			wire.endOutput();
		}
		for (String call : calls) {
			Answer answer = wires.get(call).answer();
			assertThat(answer.status()).as(call).isEqualTo(409);
			JsonNode job = answer.job(409, "cancelled", "cancelled");
			Counts counts = Answer.counts(job);
			assertThat(counts.applied() + counts.noop() + counts.unprocessed()).as(call).isEqualTo(counts.received());
			assertThat(counts.applied()).as(call).isLessThan(1000);
			assertThat(job.get("inputComplete").asBoolean()).as(call).isFalse();
			assertThat(answer.json().at("/detail").asString()).as(call).contains("closed its side of the connection");
		}
	}

	@Test
	void anAnalysisIsAnsweredAsCancelled() throws IOException {
		fill(1000);
		try (Wire wire = Wire.post(this.service, "/v1/analyses?rateLimit=1&scanCount=10", "Content-Length: 0")) {
			await().until(() -> running() == 1);
			wire.endOutput();
			JsonNode problem = wire.answer().problem(409, "cancelled");
			assertThat(problem.at("/analysis/state").asString()).isEqualTo("cancelled");
		}
	}

	@Test
	void aTuningIsAnsweredAsCancelled() throws IOException {
		try (Wire wire = Wire.post(this.service, "/v1/tunings?budget=10m&runs=10&records=100000",
				"Content-Length: 0")) {
			await().until(() -> this.redis.dbsize() > 0);
			wire.endOutput();
			JsonNode problem = wire.answer().problem(409, "cancelled");
			assertThat(problem.at("/tuning/state").asString()).isEqualTo("cancelled");
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	/** The whole upload has arrived, but rateLimit delays most of its records. */
	@Test
	void anUploadWithARateLimitEndsAsWell() throws IOException {
		String body = IntStream.range(0, 1000)
			.mapToObj((i) -> "[\"SET\",\"k" + i + "\",\"v\"]\n")
			.collect(Collectors.joining());
		try (Wire wire = Wire.post(this.service, "/v1/jobs?rateLimit=1", "Content-Type: application/x-ndjson",
				"Content-Length: " + body.length())) {
			wire.send(body);
			await().until(() -> this.redis.exists("k0") == 1);
			wire.endOutput();
			Counts counts = Answer.counts(wire.answer().job(409, "cancelled", "cancelled"));
			assertThat(counts.received()).isEqualTo(counts.applied() + counts.unprocessed()).isLessThan(1000);
		}
	}

	/** The job has read all records, and only waits for Redis. */
	@Test
	void anUploadThatWasReadRunsToItsEndWithoutItsCaller() throws Exception {
		double completed = jobs("completed");
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, 0, 0);
		try (Wire wire = Wire.upload(this.service, "/v1/jobs")) {
			wire.chunk("[\"SET\",\"a\",\"1\"]\n").lastChunk();
		}
		ProxyLink held = place.get(30, TimeUnit.SECONDS);
		try (Wire paced = Wire.post(this.service, "/pipeset/10000000?rateLimit=1", "Content-Length: 0")) {
			await().until(() -> running() == 2);
			paced.endOutput();
			// This answer shows that the service has checked for disconnected callers.
			paced.answer().job(409, "cancelled", "cancelled");
		}
		held.goOn();
		await().until(() -> jobs("completed") == completed + 1);
		assertThat(this.redis.get("a")).isEqualTo("1");
	}

	@Test
	void aPipelinedRequestIsNotLost() throws IOException {
		String next = "POST /pipeset/7 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
		try (Wire wire = Wire.open(this.service, "POST /listinput/l?count=3&rateLimit=1 HTTP/1.1", "Host: localhost",
				"Content-Length: 0")) {
			await().until(() -> this.redis.llen("l") > 0);
			wire.send(next.substring(0, 9));
			assertThat(Answer.counts(wire.answer().report()).applied()).isEqualTo(3);
			wire.send(next.substring(9));
			assertThat(Answer.counts(wire.answer().report()).applied()).isEqualTo(7);
		}
	}

	private void fill(int keys) {
		this.redis.mset(IntStream.range(0, keys).boxed().collect(Collectors.toMap((i) -> "key:" + i, (i) -> "v")));
		this.redis.rpush("list", IntStream.range(0, 1000).mapToObj(Integer::toString).toArray(String[]::new));
	}

	private int running() {
		return this.service.get("/actuator/pipeset").json().at("/jobsRunning").asInt(-1);
	}

	private double jobs(String state) {
		Answer answer = this.service.get("/actuator/metrics/pipeset.job?tag=state:" + state);
		return (answer.status() == 404) ? 0 : answer.json().at("/measurements/0/value").asDouble();
	}

	/** The ways in which a caller disconnects. */
	enum Departure {

		CLOSES {

			@Override
			void leave(Wire wire) throws IOException {
				wire.close();
			}

		},

		SENDS_NO_MORE {

			@Override
			void leave(Wire wire) throws IOException {
				wire.endOutput();
			}

		},

		RESETS {

			@Override
			void leave(Wire wire) throws IOException {
				wire.reset();
			}

		};

		abstract void leave(Wire wire) throws IOException;

	}

}
