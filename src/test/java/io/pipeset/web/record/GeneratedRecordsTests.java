package io.pipeset.web.record;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** In production the service makes no records up. */
@ServiceTest(properties = "pipeset.generated.enabled=false")
class GeneratedRecordsTests {

	private final Service service;

	GeneratedRecordsTests(Service service) {
		this.service = service;
	}

	@ParameterizedTest
	@CsvSource({ "/pipeset/3, /pipeset/3", "/pipeset/0, /pipeset/0", "/pipeset/3?dryRun=true, /pipeset/3",
			"/pipehset/3, /pipehset/3", "/listinput/list, /v1/jobs" })
	void aRequestWithoutRecordsIsRefusedByTheProperty(String call, String uploads) {
		TestRedis.shared().client().flushall();
		assertThat(this.service.post(call).refusal(403, "disabled")).contains("pipeset.generated.enabled=false")
			.endsWith("to " + uploads);
		assertThat(TestRedis.shared().client().dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/piperpop/2", "/piperpop/2?reliable=true", "/piperpop/2?until=empty",
			"/piperpop/2?dryRun=true" })
	void aPopHasToNameItsList(String call) {
		TestRedis.shared().client().flushall();
		TestRedis.shared().client().rpush("mylist9", "somebody's", "values");
		assertThat(this.service.post(call).refusal(400, "invalid-setting")).startsWith("'key' is missing")
			.contains("/piperpop/10?key=queue");
		assertThat(TestRedis.shared().client().llen("mylist9")).isEqualTo(2);
	}

	@Test
	void uploadsAndPopsGoOn() {
		Answer upload = this.service.ndjson("/pipeset/1", "{\"key\":\"a\",\"value\":\"1\"}");
		assertThat(upload.report().at("/counts/applied").asInt()).isOne();
		assertThat(this.service.post("/piperpop/2?key=none").report().at("/counts/noop").asInt()).isEqualTo(2);
	}

}
