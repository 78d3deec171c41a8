package io.pipeset.web.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.pipeset.redis.TestCluster;
import io.pipeset.report.Counts;
import io.pipeset.report.Verified;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** In a cluster, each record is read at the master of its slot, also if slots move. */
@ServiceTest
class VerifyClusterTests {

	private static final int RECORDS = 3000;

	static final TestCluster cluster = TestCluster.shared();

	private final Service service;

	VerifyClusterTests(Service service) {
		this.service = service;
	}

	@AfterEach
	void reset() {
		cluster.reset();
	}

	@Test
	void recordsAreComparedWhereverTheirSlotIs() {
		List<String> lines = new ArrayList<>();
		IntStream.range(0, RECORDS).forEach((i) -> {
			lines.add("[\"SET\",\"k" + i % 1000 + "\",\"" + i + "\"]");
			lines.add("[\"HSET\",\"h" + i % 7 + "\",\"f" + i + "\",\"" + i + "\"]");
			lines.add("[\"MSET\",\"{m" + i + "}a\",\"1\",\"{m" + i + "}b\",\"2\"]");
		});
		String[] records = lines.toArray(String[]::new);
		this.service.ndjson("/v1/jobs", records).report();
		assertThat(verify(records, "")).isEqualTo(new Verified(3L * RECORDS - 2000, 0, 0, 2000, 0));
		String tag = cluster.tag(0, 0);
		String ofTag = "[\"SET\",\"{" + tag + "}x\",\"1\"]";
		this.service.ndjson("/v1/jobs", ofTag).report();
		cluster.move(TestCluster.slot(tag), cluster.master(1));
		assertThat(verify(new String[] { ofTag, ofTag.replace("}x", "}y") }, "&retries=2"))
			.isEqualTo(new Verified(1, 0, 1, 0, 0));
	}

	private Verified verify(String[] records, String settings) {
		JsonNode report = this.service.ndjson("/v1/jobs?verify=true&batchSize=100" + settings, records).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(records.length, 0, 0, 0, 0, records.length));
		JsonNode verified = report.path("verified");
		return new Verified(verified.path("same").asLong(-1), verified.path("different").asLong(-1),
				verified.path("missing").asLong(-1), verified.path("superseded").asLong(-1),
				verified.path("incomparable").asLong(-1));
	}

}
