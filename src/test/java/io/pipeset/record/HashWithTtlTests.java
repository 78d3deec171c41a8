package io.pipeset.record;

import java.nio.charset.StandardCharsets;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.OwnRedis;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The script writes a hash and its expiry, or neither, whatever its arguments are. */
class HashWithTtlTests {

	private static final String SCRIPT = new String(Script.HSET_WITH_TTL.text(), StandardCharsets.UTF_8);

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start().as("loader");

	private final RedisCommands<String, String> redis = own.redis().client();

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { "9223372036854775", "9223372036854775808", "9000000000000001", "0", "-5", "05", "1.5",
			"1e3", "0x10", " 5", "5 ", "soon", "", "inf", "nan" })
	void anInvalidTimeToLiveWritesNothing(String ttl) {
		assertThatExceptionOfType(RedisCommandExecutionException.class).isThrownBy(() -> run(ttl))
			.withMessageStartingWith("ERR")
			.withMessageContaining("1 to 9000000000000000");
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void theLargestTimeToLiveIsAccepted() {
		assertThat(run(Long.toString(Expiry.MAX_SECONDS))).isOne();
		assertThat(this.redis.hget("k", "f")).isEqualTo("v");
		assertThat(this.redis.ttl("k")).isBetween(Expiry.MAX_SECONDS - 60, Expiry.MAX_SECONDS);
	}

	/** Only Redis 7 and later can be asked what a user may run. */
	@ParameterizedTest
	@CsvSource({ "HSET, true", "EXPIRE, true", "HSET, false", "EXPIRE, false" })
	void aUserWhoMayNotRunBothWritesNothing(CommandType forbidden, boolean tellsRights) {
		own.permitAll();
		own.forbid(forbidden);
		String text = (tellsRights) ? SCRIPT : SCRIPT.replace("redis.acl_check_cmd", "nil");
		RedisClient client = RedisClient
			.create(RedisURI.builder(own.redis().uri()).withAuthentication("loader", "loader").build());
		try {
			RedisCommands<String, String> loader = client.connect().sync();
			assertThatExceptionOfType(RedisCommandExecutionException.class).isThrownBy(() -> run(loader, text, "60"));
			assertThat(this.redis.dbsize()).isZero();
			own.permitAll();
			assertThat(run(loader, text, "60")).isOne();
			assertThat(this.redis.ttl("k")).isBetween(1L, 60L);
		}
		finally {
			client.shutdown();
		}
	}

	private long run(String ttl) {
		return run(this.redis, SCRIPT, ttl);
	}

	private static long run(RedisCommands<String, String> redis, String script, String ttl) {
		Long added = redis.eval(script, ScriptOutputType.INTEGER, new String[] { "k" }, ttl, "f", "v");
		return added;
	}

}
