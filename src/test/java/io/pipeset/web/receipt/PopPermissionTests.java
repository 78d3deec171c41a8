package io.pipeset.web.receipt;

import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A pop of many values takes none if Redis does not allow the commands that limit it, and
 * the report says why.
 */
@ServiceTest
class PopPermissionTests {

	private static final String USER = "loader";

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start().as(USER);

	private static final TestRedis redis = own.redis();

	private final Service service;

	PopPermissionTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		redis.client().replicaofNoOne();
		redis.client().flushall();
		redis.client().scriptFlush();
		own.permitAll();
		redis.client().rpush("queue", "a", "b", "c", "d", "e", "f", "g");
	}

	@ParameterizedTest
	@CsvSource({ "EVALSHA, NOPERM, evalsha", "SCRIPT, NOSCRIPT, script", "LINDEX, NOPERM, LINDEX",
			"RPOP, NOPERM, RPOP" })
	void whatIsNotPermittedLeavesTheListAsItWas(CommandType command, String code, String named) {
		own.forbid(command);
		JsonNode report = this.service.ndjson("/v1/jobs", "[\"RPOP\",\"queue\",5]", "[\"SET\",\"k\",\"v\"]").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo(code);
		assertThat(report.at("/items/0/error/message").asString()).contains(named);
		assertThat(redis.client().llen("queue")).isEqualTo(7);
	}

	@Test
	void fewValuesNeedNoScriptOnceSomeWereSeen() {
		own.forbid(CommandType.EVALSHA);
		JsonNode report = this.service.ndjson("/v1/jobs", "[\"RPOP\",\"queue\"]", "[\"RPOP\",\"queue\",4]").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(redis.client().llen("queue")).isEqualTo(2);
	}

	@Test
	void aReplicaRefusesIt() {
		redis.client().replicaof("127.0.0.1", 1);
		try {
			Answer answer = this.service.ndjson("/v1/jobs", "[\"RPOP\",\"queue\",5]");
			JsonNode job = answer.job(503, "redis-refuses", "stopped");
			assertThat(job.at("/items/0/error/code").asString()).isEqualTo("READONLY");
			assertThat(redis.client().llen("queue")).isEqualTo(7);
		}
		finally {
			redis.client().replicaofNoOne();
		}
	}

}
