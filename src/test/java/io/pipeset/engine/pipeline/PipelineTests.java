package io.pipeset.engine.pipeline;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.pipeset.engine.pipeline.call.ConnectionLender;
import io.pipeset.engine.slab.FilledSlabs;
import io.pipeset.engine.slab.Slab;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A slab comes back if its connection ends while it is sent. A connection that a slab
 * leaves in a transaction is closed.
 */
class PipelineTests {

	private final RedisClient client = RedisClient.create(TestRedis.shared().uri());

	@AfterEach
	void end() {
		this.client.shutdown();
	}

	/**
	 * Lettuce checks that it is connected, and then puts the slab into a buffer. If the
	 * connection ends in between, the buffer is never emptied. Here Lettuce skips the
	 * check, so that the slab certainly gets into the buffer.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aSlabInTheBufferOfAClosedConnectionComesBackUnwritten(boolean flushes) {
		this.client.setOptions(ClientOptions.builder()
			.autoReconnect(false)
			.disconnectedBehavior(DisconnectedBehavior.ACCEPT_COMMANDS)
			.build());
		StatefulRedisConnection<byte[], byte[]> connection = this.client.connect(ByteArrayCodec.INSTANCE);
		long id = connection.sync().clientId();
		connection.setAutoFlushCommands(flushes);
		TestRedis.shared().client().clientKill(KillArgs.Builder.id(id));
		await().atMost(Duration.ofSeconds(20)).until(() -> !connection.isOpen());
		CompletableFuture<Slab> back = new CompletableFuture<>();
		Slab slab = new FilledSlabs().slab("SET key value");
		new Pipeline(connection, null, null, null, new ConnectionLender(null, null, 1, "any:1", null)).send(slab,
				back::complete);
		assertThat(back).succeedsWithin(Duration.ofSeconds(10)).isSameAs(slab);
		assertThat(slab.isDone()).isTrue();
		assertThat(slab.isWritten()).isFalse();
	}

	/** Redis before 6.2 leaves the transaction open if it refuses EXEC. */
	@ParameterizedTest
	@CsvSource({ "-NOPERM no 'exec', false", "-EXECABORT Transaction discarded, true", "*1, true" })
	void aConnectionLeftInATransactionIsClosed(String exec, boolean staysOpen) {
		StatefulRedisConnection<byte[], byte[]> connection = this.client.connect(ByteArrayCodec.INSTANCE);
		Pipeline pipeline = new Pipeline(connection, null, null, new Fences(null, null),
				new ConnectionLender(null, null, 1, "any:1", null));
		Slab slab = FilledSlabs.written(new FilledSlabs().transaction("SET a 1"),
				FilledSlabs.OK + FilledSlabs.QUEUED + exec + "\r\n" + ((exec.startsWith("*")) ? FilledSlabs.OK : ""));
		List<Boolean> open = new ArrayList<>();
		new ExchangeCommand(slab.attempt(), pipeline, () -> open.add(connection.isOpen())).complete();
		assertThat(open).containsExactly(staysOpen);
	}

}
