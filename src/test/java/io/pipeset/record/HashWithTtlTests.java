package io.pipeset.record;

import java.nio.charset.StandardCharsets;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The script writes a hash and lets it expire, or does neither, whatever its arguments
 * are.
 */
class HashWithTtlTests {

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(strings = { "9223372036854775", "9223372036854775808", "9000000000000001", "0", "-5", "05", "1.5",
			"1e3", "0x10", " 5", "5 ", "soon", "", "inf", "nan" })
	void whatIsNoTimeToLiveWritesNothing(String ttl) {
		assertThatExceptionOfType(RedisCommandExecutionException.class).isThrownBy(() -> run(ttl))
			.withMessageStartingWith("ERR")
			.withMessageContaining("1 to 9000000000000000");
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void theLongestTimeToLiveIsTaken() {
		assertThat(run(Long.toString(Expiry.MAX_SECONDS))).isOne();
		assertThat(this.redis.hget("k", "f")).isEqualTo("v");
		assertThat(this.redis.ttl("k")).isBetween(Expiry.MAX_SECONDS - 60, Expiry.MAX_SECONDS);
	}

	private long run(String ttl) {
		String script = new String(Script.HSET_WITH_TTL.text(), StandardCharsets.UTF_8);
		Long added = this.redis.eval(script, ScriptOutputType.INTEGER, new String[] { "k" }, ttl, "f", "v");
		return added;
	}

}
