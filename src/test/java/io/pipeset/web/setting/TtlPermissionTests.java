package io.pipeset.web.setting;

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
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** A hash is neither written nor made to expire if Redis does not allow both. */
@ServiceTest
class TtlPermissionTests {

	private static final String USER = "loader";

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start().as(USER);

	private static final TestRedis redis = own.redis();

	private final Service service;

	TtlPermissionTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		redis.client().flushall();
		own.permitAll();
		redis.client().hset("k", "f", "old");
	}

	@ParameterizedTest
	@EnumSource(value = CommandType.class, names = { "HSET", "EXPIRE", "EVALSHA" })
	void whatIsNotPermittedLeavesTheHashAsItWas(CommandType command) {
		own.forbid(command);
		JsonNode report = this.service.ndjson("/v1/jobs?ttl=90", "[\"HSET\",\"k\",\"f\",\"new\"]").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("NOPERM");
		assertThat(redis.client().hget("k", "f")).isEqualTo("old");
		assertThat(redis.client().ttl("k")).isEqualTo(-1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "ttl=90", "ttl=90&atomic=batch", "expireAt=4102444800" })
	void theErrorNamesTheCommandThatWasSentAndTheWayOut(String settings) {
		own.forbid(CommandType.EVALSHA);
		JsonNode report = this.service.ndjson("/v1/jobs?" + settings, "[\"HSET\",\"k\",\"f\",\"new\"]").report();
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("NOPERM");
		assertThat(report.at("/items/0/error/message").asString()).startsWith("HSET with an expiry ")
			.contains("+evalsha", "+script|load", "+hset", "+expire", "+pexpireat", "a record of EXPIRE");
		// The way out is one.
		own.forbid(CommandType.SCRIPT);
		this.service.ndjson("/v1/jobs", "[\"HSET\",\"k\",\"f\",\"new\"]", "[\"EXPIRE\",\"k\",90]").report();
		assertThat(redis.client().hget("k", "f")).isEqualTo("new");
		assertThat(redis.client().ttl("k")).isBetween(30L, 90L);
	}

	@Test
	void aHashThatIsRefusedForItsOwnCommandSaysSoInRedissWords() {
		own.forbid(CommandType.HSET);
		JsonNode report = this.service.ndjson("/v1/jobs?ttl=90", "[\"HSET\",\"k\",\"f\",\"new\"]").report();
		assertThat(report.at("/items/0/error/message").asString())
			.isEqualTo("NOPERM this user may not run both HSET and EXPIRE on this key");
	}

	@Test
	void aScriptThatMayNotBeLoadedIsNotFound() {
		redis.client().scriptFlush();
		own.forbid(CommandType.SCRIPT);
		JsonNode report = this.service.ndjson("/v1/jobs?ttl=90", "[\"HSET\",\"k\",\"f\",\"new\"]", "[\"SET\",\"s\",1]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("NOSCRIPT");
		assertThat(report.at("/items/0/error/message").asString()).startsWith("HSET with an expiry ")
			.contains("+script|load");
		assertThat(redis.client().hget("k", "f")).isEqualTo("old");
		assertThat(redis.client().ttl("s")).isBetween(30L, 90L);
	}

}
