package io.pipeset.engine.pipeline.call;

import java.time.Duration;
import java.util.function.Function;

import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** A connection is closed if a call ends without a reply, and only then. */
class CallConnectionTests {

	private static final byte[] NO_LIST = { 'n', 'o', ' ', 'l', 'i', 's', 't' };

	private final RedisClient client = RedisClient.create(TestRedis.shared().uri());

	private final StatefulRedisConnection<byte[], byte[]> connection = this.client.connect(ByteArrayCodec.INSTANCE);

	@AfterEach
	void end() {
		this.client.shutdown();
	}

	@Test
	void aReplyLeavesItOpen() {
		String answer = calls(Duration.ofSeconds(20)).call(RedisAsyncCommands::ping);
		assertThat(answer).isEqualTo("PONG");
		assertThat(this.connection.isOpen()).isTrue();
	}

	@Test
	void anErrorReplyLeavesItOpen() {
		RedisCallException refused = failure(Duration.ofSeconds(20), (commands) -> commands.scriptLoad("no Lua"));
		assertThat(refused.code()).isEqualTo("ERR");
		assertThat(refused.isTransient()).isFalse();
		assertThat(this.connection.isOpen()).isTrue();
	}

	@Test
	void aTimeoutClosesIt() {
		RedisCallException silent = failure(Duration.ofMillis(50), (commands) -> commands.blpop(0, NO_LIST));
		assertThat(silent).hasMessageContaining("did not answer within 50 ms");
		assertThat(silent.isLost()).isFalse();
		assertThat(this.connection.isOpen()).isFalse();
	}

	@Test
	void anInterruptClosesIt() {
		Thread.currentThread().interrupt();
		RedisCallException interrupted = failure(Duration.ofSeconds(20), (commands) -> commands.blpop(0, NO_LIST));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(interrupted.code()).isNull();
		assertThat(this.connection.isOpen()).isFalse();
	}

	@Test
	void aCancelledCommandClosesIt() {
		RedisCallException lost = failure(Duration.ofSeconds(20), (commands) -> {
			RedisFuture<KeyValue<byte[], byte[]>> answer = commands.blpop(0, NO_LIST);
			answer.cancel(true);
			return answer;
		});
		assertThat(lost.code()).isNull();
		assertThat(this.connection.isOpen()).isFalse();
	}

	@Test
	void aDefectClosesIt() {
		RedisCallException lost = failure(Duration.ofSeconds(20), (commands) -> {
			throw new IllegalStateException("a defect");
		});
		assertThat(lost).hasMessageContaining("a defect");
		assertThat(this.connection.isOpen()).isFalse();
	}

	@Test
	void theClientIdComesFromTheHandshake() {
		assertThat(calls(Duration.ofSeconds(20)).idFromHandshake()).isEqualTo(this.connection.sync().clientId());
	}

	private CallConnection calls(Duration replyTimeout) {
		return new CallConnection("any:1", this.connection, replyTimeout);
	}

	private <T> RedisCallException failure(Duration replyTimeout,
			Function<RedisAsyncCommands<byte[], byte[]>, RedisFuture<T>> command) {
		return catchThrowableOfType(RedisCallException.class, () -> calls(replyTimeout).call(command));
	}

}
