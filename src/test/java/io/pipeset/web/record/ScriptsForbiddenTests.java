package io.pipeset.web.record;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** Scripts run only if a property allows them. */
@ServiceTest
class ScriptsForbiddenTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ScriptsForbiddenTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
		this.redis.scriptFlush();
	}

	@Test
	void aRecordThatRunsAScriptIsForbiddenAndItsNeighboursAreNot() {
		String sha = this.redis.scriptLoad("return redis.call('SET', KEYS[1], 'written')");
		JsonNode report = this.service
			.ndjson("/v1/jobs", "[\"SET\",\"a\",1]", "[\"EVALSHA\",\"" + sha + "\",1,\"k\"]",
					"{\"op\":\"evalsha\",\"args\":[\"" + sha + "\",1,\"k\"]}", "[\"SET\",\"b\",1]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(4, 2, 0, 2, 0, 0));
		for (JsonNode item : report.get("items")) {
			assertThat(item.at("/error/code").asString()).isEqualTo("FORBIDDEN");
			assertThat(item.at("/error/message").asString()).contains("pipeset.security.scripts");
			assertThat(item.at("/key").asString()).isEqualTo("k");
		}
		assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("a", "b");
	}

	@Test
	void aScriptIsNotLoaded() {
		String detail = this.service.post("/v1/scripts", "text/plain", "return 1").refusal(403, "forbidden");
		assertThat(detail).contains("pipeset.security.scripts=true");
		assertThat(this.redis.scriptExists(this.redis.digest("return 1"))).containsExactly(false);
	}

}
