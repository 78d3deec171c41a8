package io.pipeset.web.cluster;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** In a cluster, a job with {@code exactlyOnce} has one slot, which may move. */
@ServiceTest
class ExactlyOnceClusterTests {

	private static final int RECORDS = 3000;

	static final TestCluster cluster = TestCluster.shared();

	private final TestRedis from = cluster.master(0);

	private final TestRedis to = cluster.master(1);

	private final String tag = cluster.tag(0, 0);

	private final int slot = TestCluster.slot(this.tag);

	private final String key = "{" + this.tag + "}";

	private final Service service;

	ExactlyOnceClusterTests(Service service) {
		this.service = service;
	}

	@AfterEach
	void reset() {
		cluster.reset();
	}

	@Test
	void aRecordOfAnotherSlotIsRejected() {
		JsonNode report = this.service
			.ndjson("/v1/jobs?exactlyOnce=true", "[\"RPUSH\",\"" + this.key + "a\",1]",
					"[\"RPUSH\",\"{" + cluster.tag(1, 0) + "}a\",1]", "[\"RPUSH\",\"" + this.key + "b\",1]")
			.json();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 2, 0, 1, 0, 0));
		assertThat(report.at("/errorCodes/CROSSSLOT").asInt()).isEqualTo(1);
	}

	@Test
	void theRecordsOfASlotThatMovesRunOnce() throws Exception {
		CompletableFuture<Answer> answer = this.service.sendAsync(this.service.uploading(
				"/v1/jobs?exactlyOnce=true&batchSize=10&rateLimit=1500&retries=3", Service.NDJSON,
				Lines.of(RECORDS, (i) -> "[\"RPUSH\",\"" + this.key + "l" + i % 3 + "\"," + i + "]")));
		await().until(() -> this.from.client().llen(this.key + "l0") > 100);
		cluster.begin(this.slot, this.from, this.to);
		cluster.migrate(this.from, this.to, this.key + "l0");
		// A batch needs all three lists and the mark at one node.
		cluster.endWithKeys(this.slot, this.from, this.to);
		Answer report = answer.get(1, TimeUnit.MINUTES);
		assertThat(report.status()).as(report.text()).isEqualTo(200);
		assertThat(Answer.counts(report.json())).isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
		for (int list = 0; list < 3; list++) {
			int first = list;
			List<String> expected = IntStream.range(0, RECORDS)
				.filter((i) -> i % 3 == first)
				.mapToObj(Integer::toString)
				.toList();
			assertThat(this.to.client().lrange(this.key + "l" + list, 0, -1)).isEqualTo(expected);
		}
	}

}
