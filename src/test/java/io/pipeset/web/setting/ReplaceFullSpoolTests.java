package io.pipeset.web.setting;

import java.io.IOException;
import java.nio.file.Path;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.SpoolFiles;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** Keys that do not fit into the spool fail no record, and then nothing is removed. */
@ServiceTest(properties = { "pipeset.spool.directory=" + ReplaceFullSpoolTests.SPOOL, "pipeset.spool.max-bytes=100KB" })
class ReplaceFullSpoolTests {

	static final String SPOOL = "target/spool/replace";

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ReplaceFullSpoolTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
		this.redis.set("keyAold", "v");
	}

	@Test
	void nothingIsRemovedIfTheSpoolIsFull() throws IOException {
		for (int records : new int[] { 20_000, 14_000 }) {
			// The second one is full only at its last block.
			JsonNode report = this.service.post("/pipeset/" + records + "?replace=keyA*").report();
			assertThat(Answer.counts(report)).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
			assertThat(report.at("/warnings/0/code").asString()).isEqualTo("NOT_REPLACED");
			assertThat(report.at("/warnings/0/detail").asString()).contains("pipeset.spool.max-bytes");
			assertThat(report.has("replaced")).isFalse();
			assertThat(this.redis.exists("keyAold")).isEqualTo(1);
			assertThat(SpoolFiles.ending(Path.of(SPOOL), ".keys")).isEmpty();
		}
	}

	@Test
	void theFileIsRemovedAfterEachJob() throws IOException {
		JsonNode report = this.service.post("/pipeset/10000?replace=keyA*").report();
		assertThat(report.at("/replaced").toString()).isEqualTo("{\"kept\":10000,\"removed\":1}");
		assertThat(SpoolFiles.ending(Path.of(SPOOL), ".keys")).isEmpty();
		assertThat(
				this.service.get("/actuator/metrics/pipeset.spool.used").json().at("/measurements/0/value").asDouble())
			.isZero();
	}

	@Test
	void aJobWithoutTheSettingHasNoFile() throws IOException {
		this.service.post("/pipeset/20000").report();
		assertThat(SpoolFiles.ending(Path.of(SPOOL), ".keys")).isEmpty();
	}

}
