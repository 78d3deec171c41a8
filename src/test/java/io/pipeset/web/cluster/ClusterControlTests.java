package io.pipeset.web.cluster;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

import io.pipeset.keep.control.ControlRedisException;
import io.pipeset.keep.control.JobRecord;
import io.pipeset.keep.control.JobRecords;
import io.pipeset.redis.TestCluster;
import io.pipeset.report.JobState;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Records may be in a cluster, each in the slot of its key. */
@ServiceTest
class ClusterControlTests {

	static final TestCluster cluster = TestCluster.shared();

	private final Service service;

	private final JobRecords records;

	ClusterControlTests(Service service, @Autowired JobRecords records) {
		this.service = service;
		this.records = records;
	}

	/**
	 * Other tests restart the nodes, and the service connects to them again by itself.
	 */
	@BeforeEach
	void awaitNodes() {
		await().ignoreExceptionsInstanceOf(ControlRedisException.class)
			.until(() -> IntStream.range(0, 50).allMatch((i) -> this.records.find("none-" + i).isEmpty()));
	}

	@AfterEach
	void reset() {
		cluster.reset();
	}

	@Test
	void recordsAreInTheSlotsOfTheirKeys() {
		List<String> ids = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			Answer taken = this.service.send(this.service.request("/pipeset/10")
				.header("Prefer", "respond-async")
				.POST(BodyPublishers.noBody()));
			assertThat(taken.json().has("warnings")).as(taken.text()).isFalse();
			ids.add(taken.json().get("jobId").asString());
		}
		Collections.reverse(ids);
		await().untilAsserted(() -> assertThat(this.records.list("none", JobState.COMPLETED, null, null, 8).jobs())
			.extracting((record) -> record.status().jobId())
			.isEqualTo(ids));
		JobRecord record = this.records.find(ids.get(3)).orElseThrow();
		assertThat(record.status().counts()).extracting("applied").isEqualTo(10L);
		assertThat(record.report()).isNotNull();
		assertThat(ids).allMatch((id) -> {
			String key = "pipeset:job:" + cluster.identity().name() + ":" + id;
			return cluster.at(key).exists(key) == 1;
		});
		assertThat(this.service.get("/actuator/pipeset").json().at("/control/state").asString()).isEqualTo("up");
	}

}
