package io.pipeset.redis;

import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A Redis from any source does what the methods of {@link TestRedis} say.
 */
class TestRedisTests {

	@Test
	void theSharedServerIsOneAndAnswers() {
		assertThat(TestRedis.shared()).isSameAs(TestRedis.shared());
		assertThat(TestRedis.shared().client().ping()).isEqualTo("PONG");
	}

	@Test
	void closingTheSharedServerLeavesItRunning() {
		TestRedis.shared().close();
		assertThat(TestRedis.shared().client().ping()).isEqualTo("PONG");
	}

	@Test
	void itsPropertiesNameTheWholeAddress() {
		try (TestRedis redis = TestRedis.start()) {
			assertThat(redis.properties()).containsEntry("spring.data.redis.host", redis.host())
				.containsEntry("spring.data.redis.port", Integer.toString(redis.port()))
				.containsEntry("spring.data.redis.password", redis.password());
		}
	}

	@Test
	void aServerOfOnesOwnIsConfiguredAsAsked() {
		try (TestRedis redis = TestRedis.start("maxmemory 1mb", "maxmemory-policy noeviction")) {
			assertThat(redis.client().configGet("maxmemory")).containsEntry("maxmemory", "1048576");
			assertThatExceptionOfType(RedisCommandExecutionException.class)
				.isThrownBy(() -> redis.client().set("key", "x".repeat(2_000_000)))
				.withMessageStartingWith("OOM");
		}
	}

	@Test
	void aKilledServerComesBackAtTheSameAddress() {
		try (TestRedis redis = TestRedis.start()) {
			redis.client().set("key", "value");
			int port = redis.port();
			redis.kill();
			redis.restart();
			assertThat(redis.port()).isEqualTo(port);
			assertThat(redis.client().get("key")).isNull();
		}
	}

	@Test
	void aPausedServerAnswersOnlyAfterItIsResumed() throws Exception {
		try (TestRedis redis = TestRedis.start(); RedisClient client = RedisClient.create(redis.uri())) {
			RedisAsyncCommands<String, String> commands = client.connect().async();
			redis.pause();
			RedisFuture<String> reply = commands.ping();
			assertThat(reply.await(200, TimeUnit.MILLISECONDS)).isFalse();
			redis.resume();
			assertThat(reply.get(10, TimeUnit.SECONDS)).isEqualTo("PONG");
		}
	}

	@Test
	void aPausedServerCanBeClosed() {
		TestRedis redis = TestRedis.start();
		redis.client().ping();
		RedisURI uri = redis.uri();
		redis.pause();
		redis.close();
		assertThatExceptionOfType(RedisConnectionException.class).isThrownBy(() -> RedisPing.once(uri));
	}

}
