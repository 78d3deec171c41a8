package io.pipeset.web.operator;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation.Context;
import io.micrometer.observation.ObservationHandler;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A trace has a job and its batches, and no command. */
@ServiceTest
class TraceTests {

	private final Service service;

	private final Taker taker;

	TraceTests(Service service, @Autowired Taker taker) {
		this.service = service;
		this.taker = taker;
	}

	@BeforeEach
	void forget() {
		this.taker.ended.clear();
	}

	@Test
	void aJobIsTracedWithEachOfItsBatches() {
		JsonNode report = this.service
			.upload("/v1/jobs?batchSize=1000&concurrency=2&coalesce=off", Service.NDJSON,
					Lines.of(10_000, (i) -> "[\"SET\",\"k" + i + "\",\"1\"]"))
			.report();
		Context job = this.taker.awaitEnd("pipeset.job");
		assertThat(value(job, "jobId")).isEqualTo(report.get("jobId").asString());
		assertThat(value(job, "client")).isEqualTo("none");
		assertThat(value(job, "state")).isEqualTo("completed");
		assertThat(value(job, "applied")).isEqualTo("10000");
		List<Context> batches = this.taker.ended("pipeset.batch");
		assertThat(batches).hasSize(report.at("/timings/batches/count").asInt()).allSatisfy((batch) -> {
			assertThat(batch.getParentObservation()).isNotNull();
			assertThat(batch.getParentObservation().getContextView()).isSameAs(job);
			assertThat(value(batch, "loss")).isEqualTo("none");
		});
		assertThat(batches.stream().mapToInt((batch) -> Integer.parseInt(value(batch, "records"))).sum())
			.isEqualTo(10_000);
	}

	/** The meters of the same names have other tags, and would be refused. */
	@Test
	void tracesAreNoMeters() {
		this.service.post("/pipeset/10").report();
		this.taker.awaitEnd("pipeset.job");
		assertThat(this.service.get("/actuator/prometheus").text()).contains("pipeset_job_seconds_count{")
			.doesNotContain("jobId", "loss=\"none\"");
		assertThat(this.service.get("/actuator/metrics/pipeset.batch").json().get("availableTags")).hasSize(1);
	}

	@Test
	void aTakerThatFailsFailsNoJob() {
		this.taker.fails = true;
		try {
			assertThat(Answer.counts(this.service.post("/pipeset/10").report()).applied()).isEqualTo(10);
		}
		finally {
			this.taker.fails = false;
		}
		assertThat(this.service.get("/actuator/prometheus").text())
			.doesNotContainPattern("pipeset_job_active_seconds_count\\{[^}]*} [1-9]");
	}

	private static String value(Context context, String key) {
		KeyValue low = context.getLowCardinalityKeyValue(key);
		KeyValue found = (low != null) ? low : context.getHighCardinalityKeyValue(key);
		return (found != null) ? found.getValue() : "missing";
	}

	@TestConfiguration
	static class TakerConfiguration {

		@Bean
		Taker taker() {
			return new Taker();
		}

	}

	/** In the place of the handlers of a tracer. */
	static final class Taker implements ObservationHandler<Context> {

		private final Queue<Context> ended = new ConcurrentLinkedQueue<>();

		private volatile boolean fails;

		@Override
		public void onStart(Context context) {
			refuse(context);
		}

		@Override
		public void onStop(Context context) {
			refuse(context);
			this.ended.add(context);
		}

		private void refuse(Context context) {
			if (this.fails && String.valueOf(context.getName()).startsWith("pipeset.")) {
				throw new IllegalStateException("This taker fails");
			}
		}

		@Override
		public boolean supportsContext(Context context) {
			return true;
		}

		private List<Context> ended(String name) {
			return this.ended.stream().filter((context) -> name.equals(context.getName())).toList();
		}

		private Context awaitEnd(String name) {
			await().until(() -> !ended(name).isEmpty());
			return ended(name).get(0);
		}

	}

}
