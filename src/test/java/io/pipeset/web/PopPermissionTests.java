package io.pipeset.web;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** A pop of many values that may not be limited takes none, and says why. */
@ServiceTest
class PopPermissionTests {

	private static final String USER = "loader";

	private static final TestRedis redis = TestRedis.start();

	private final Service service;

	PopPermissionTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		redis.register(registry);
		registry.add("spring.data.redis.username", () -> USER);
		registry.add("spring.data.redis.password", () -> USER);
	}

	@AfterAll
	static void end() {
		redis.close();
	}

	@BeforeEach
	void emptyRedis() {
		redis.client().replicaofNoOne();
		redis.client().flushall();
		redis.client().scriptFlush();
		redis.client().aclSetuser(USER, AclSetuserArgs.Builder.reset().on().addPassword(USER).allKeys().allCommands());
		redis.client().rpush("queue", "a", "b", "c", "d", "e", "f", "g");
	}

	@ParameterizedTest
	@CsvSource({ "EVALSHA, NOPERM, evalsha", "SCRIPT, NOSCRIPT, script", "LINDEX, NOPERM, LINDEX",
			"RPOP, NOPERM, RPOP" })
	void whatIsNotPermittedLeavesTheListAsItWas(CommandType command, String code, String named) {
		redis.client().aclSetuser(USER, AclSetuserArgs.Builder.removeCommand(command));
		JsonNode report = this.service.ndjson("/v1/jobs", "[\"RPOP\",\"queue\",5]", "[\"SET\",\"k\",\"v\"]").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo(code);
		assertThat(report.at("/items/0/error/message").asString()).contains(named);
		assertThat(redis.client().llen("queue")).isEqualTo(7);
	}

	@Test
	void fewValuesNeedNoScriptOnceSomeWereSeen() {
		redis.client().aclSetuser(USER, AclSetuserArgs.Builder.removeCommand(CommandType.EVALSHA));
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
