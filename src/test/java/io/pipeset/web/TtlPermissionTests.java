package io.pipeset.web;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** A hash is not written where it may not be made to expire, nor the other way round. */
@ServiceTest
class TtlPermissionTests {

	private static final String USER = "loader";

	private static final TestRedis redis = TestRedis.start();

	private final Service service;

	TtlPermissionTests(Service service) {
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
		redis.client().flushall();
		redis.client().aclSetuser(USER, AclSetuserArgs.Builder.reset().on().addPassword(USER).allKeys().allCommands());
		redis.client().hset("k", "f", "old");
	}

	@ParameterizedTest
	@EnumSource(value = CommandType.class, names = { "HSET", "EXPIRE", "EVALSHA" })
	void whatIsNotPermittedLeavesTheHashAsItWas(CommandType command) {
		redis.client().aclSetuser(USER, AclSetuserArgs.Builder.removeCommand(command));
		JsonNode report = this.service.ndjson("/v1/jobs?ttl=90", "[\"HSET\",\"k\",\"f\",\"new\"]").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("NOPERM");
		assertThat(redis.client().hget("k", "f")).isEqualTo("old");
		assertThat(redis.client().ttl("k")).isEqualTo(-1);
	}

	@Test
	void aScriptThatMayNotBeLoadedIsNotFound() {
		redis.client().scriptFlush();
		redis.client().aclSetuser(USER, AclSetuserArgs.Builder.removeCommand(CommandType.SCRIPT));
		JsonNode report = this.service.ndjson("/v1/jobs?ttl=90", "[\"HSET\",\"k\",\"f\",\"new\"]", "[\"SET\",\"s\",1]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("NOSCRIPT");
		assertThat(redis.client().hget("k", "f")).isEqualTo("old");
		assertThat(redis.client().ttl("s")).isBetween(30L, 90L);
	}

}
