package io.pipeset.web;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** Where Redis refuses MULTI, nothing runs that would run by itself then. */
@ServiceTest
class AtomicNotPermittedTests {

	private static final String USER = "loader";

	private static final TestRedis redis = TestRedis.start();

	private final Service service;

	AtomicNotPermittedTests(Service service) {
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

	@ParameterizedTest
	@EnumSource(value = CommandType.class, names = { "MULTI", "EXEC" })
	void nothingRunsWithoutTransactions(CommandType command) {
		redis.client().aclSetuser(USER, AclSetuserArgs.Builder.reset().on().addPassword(USER).allKeys().allCommands());
		redis.client().aclSetuser(USER, AclSetuserArgs.Builder.removeCommand(command));
		Answer answer = this.service.ndjson("/v1/jobs?atomic=batch", "[\"SET\",\"a\",1]", "[\"LPUSH\",\"l\",1]");
		assertThat(Answer.counts(answer.job(503, "redis-refuses", "stopped"))).isEqualTo(new Counts(0, 0, 0, 0, 0, 0));
		assertThat(answer.json().at("/detail").asString()).contains("NOPERM").contains("atomic=none");
		assertThat(redis.client().dbsize()).isZero();
		this.service.ndjson("/v1/jobs?atomic=none", "[\"SET\",\"a\",1]").report();
		redis.client().flushall();
	}

}
