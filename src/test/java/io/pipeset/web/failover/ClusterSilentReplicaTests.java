package io.pipeset.web.failover;

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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A replica that nobody reads, and that answers nothing, keeps no job from following
 * slots between masters that do answer.
 */
@ServiceTest(properties = "pipeset.pipeline.connect-timeout=10m")
class ClusterSilentReplicaTests {

	static final TestCluster cluster = TestCluster.start(3, 1);

	/** More slots than a job follows without asking the cluster for all of them. */
	private static final int SLOTS = 40;

	private final Service service;

	ClusterSilentReplicaTests(Service service) {
		this.service = service;
	}

	@AfterAll
	static void close() {
		cluster.close();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2 })
	void holdsUpNoJobThatMeetsMovedSlots(int next) throws Exception {
		List<String> keys = IntStream.range(0, SLOTS).mapToObj((i) -> "{" + cluster.tag(1, i) + "}" + next).toList();
		push(keys).get(1, TimeUnit.MINUTES).report();
		TestRedis to = cluster.master((next == 1) ? 2 : 1);
		keys.forEach((key) -> cluster.move(TestCluster.slot(key), to));
		TestRedis silent = cluster.replica(0);
		silent.pause();
		try {
			List<CompletableFuture<Answer>> jobs = List.of(push(keys), push(keys));
			for (CompletableFuture<Answer> job : jobs) {
				assertThat(Answer.counts(job.get(1, TimeUnit.MINUTES).report()))
					.isEqualTo(new Counts(SLOTS, SLOTS, 0, 0, 0, 0));
			}
		}
		finally {
			silent.resume();
		}
		keys.forEach((key) -> assertThat(to.client().llen(key)).isEqualTo(3));
	}

	private CompletableFuture<Answer> push(List<String> keys) {
		return this.service.sendAsync(this.service.uploading("/v1/jobs?timeout=2m", Service.NDJSON,
				Lines.of(keys.size(), (i) -> "[\"RPUSH\",\"" + keys.get((int) i) + "\",\"" + i + "\"]")));
	}

}
