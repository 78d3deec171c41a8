package io.pipeset.web.cluster;

import io.pipeset.redis.TestCluster;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A script without keys runs at any master, also while one is down. */
@ServiceTest(properties = { "spring.data.redis.connect-timeout=2s", "pipeset.security.scripts=true" })
class ClusterKeylessTests {

	static final TestCluster cluster = TestCluster.start(3, 0, "cluster-require-full-coverage no");

	private final Service service;

	ClusterKeylessTests(Service service) {
		this.service = service;
	}

	@AfterAll
	static void close() {
		cluster.close();
	}

	@Test
	void aScriptWithoutKeysNeedsNoMasterThatIsDown() {
		String sha = this.service.post("/v1/scripts", "text/plain", "return 1").json().at("/sha").asString();
		String run = "[\"EVALSHA\",\"" + sha + "\",\"0\"]";
		assertThat(Answer.counts(this.service.ndjson("/v1/jobs", run).report()))
			.isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		cluster.kill(cluster.master(0));
		assertThat(Answer.counts(this.service.ndjson("/v1/jobs", run, run).report()))
			.isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
	}

}
