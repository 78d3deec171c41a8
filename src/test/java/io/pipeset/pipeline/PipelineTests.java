package io.pipeset.pipeline;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** What becomes of a slab on a connection that ends while it is sent. */
class PipelineTests {

	private final RedisClient client = RedisClient.create(TestRedis.shared().uri());

	@AfterEach
	void end() {
		this.client.shutdown();
	}

	/**
	 * The driver looks whether it is connected, and then puts what it sends into a
	 * buffer; the connection may end in between, and nobody looks into that buffer any
	 * more. Here the driver does not look, so that it certainly gets there.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aSlabInTheBufferOfAConnectionThatHasEndedComesBackUnwritten(boolean flushes) {
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
		Slab slab = slab();
		new Pipeline(connection, null, null).send(slab, back::complete);
		assertThat(back).succeedsWithin(Duration.ofSeconds(10)).isSameAs(slab);
		assertThat(slab.isDone()).isTrue();
		assertThat(slab.isWritten()).isFalse();
	}

	private static Slab slab() {
		Slab slab = new Slab();
		slab.clear(false, false);
		Record record = new Record();
		record.begin(0);
		record.operation(Operation.SET);
		for (String word : List.of("key", "value")) {
			byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
			record.argument(bytes, 0, bytes.length);
		}
		assertThat(slab.add(record)).isTrue();
		return slab;
	}

}
