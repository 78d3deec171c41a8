package io.pipeset.web.job;

import java.net.http.HttpRequest.BodyPublishers;

import io.pipeset.redis.OwnRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Records are of the data Redis if no other is named, and whoever reads of them is told
 * if that Redis evicts keys.
 */
@ServiceTest
@ExtendWith(OutputCaptureExtension.class)
class EvictingControlTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start("maxmemory-policy allkeys-lru");

	private final Service service;

	EvictingControlTests(Service service) {
		this.service = service;
	}

	@Test
	void recordsInARedisThatEvictsAreBestEffortAndEverybodyIsTold(CapturedOutput output) {
		JsonNode unused = this.service.get("/actuator/pipeset").json().get("control");
		assertThat(unused.get("state").asString()).isEqualTo("unused");
		assertThat(unused.path("bestEffort").asString("")).isEqualTo("maxmemory-policy allkeys-lru");
		this.service.post("/pipeset/1").report();
		own.redis().client().select(1);
		assertThat(own.redis().client().keys("*")).isEmpty();
		Answer taken = this.service
			.send(this.service.request("/pipeset/10").header("Prefer", "respond-async").POST(BodyPublishers.noBody()));
		assertThat(taken.json().at("/warnings/0/code").asString()).as(taken.text()).isEqualTo("BEST_EFFORT");
		String location = taken.header("Location");
		await().until(() -> this.service.get(location).json().get("state").asString().equals("completed"));
		JsonNode look = this.service.get(location).json();
		assertThat(look.at("/warnings/0/code").asString()).isEqualTo("BEST_EFFORT");
		assertThat(look.at("/warnings/0/detail").asString()).contains("allkeys-lru", "pipeset.control");
		assertThat(this.service.get("/v1/jobs").json().at("/warnings/0/code").asString()).isEqualTo("BEST_EFFORT");
		JsonNode used = this.service.get("/actuator/pipeset").json().get("control");
		assertThat(used.get("bestEffort").asString()).contains("allkeys-lru");
		assertThat(used.path("forgetsAtRestart").asString("")).isEqualTo("appendonly no");
		assertThat(own.redis().client().keys("*"))
			.anyMatch((key) -> key.startsWith("pipeset:jobs:") && key.endsWith(":none"))
			.anyMatch(
					(key) -> key.startsWith("pipeset:job:") && key.endsWith(location.substring("/v1/jobs/".length())));
		assertThat(output.getAll().lines().filter((line) -> line.contains("WARN") && line.contains("best effort")))
			.hasSize(1);
		assertThat(output.getAll().lines().filter((line) -> line.contains("WARN") && line.contains("(appendonly no)")))
			.singleElement()
			.asString()
			.contains("a repeated request may run a second time", "Use appendonly yes");
	}

}
