package io.pipeset.benchmark.rival;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;

import org.springframework.context.annotation.Profile;
import org.springframework.data.redis.connection.RedisStringCommands;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** The two ways that a Spring user has to load a cluster, in batches. */
@RestController
@Profile(FirstTryApplication.PROFILE)
class ClusterController {

	private static final int BATCH = 10_000;

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final StringRedisTemplate redisTemplate;

	private final LettuceConnectionFactory factory;

	ClusterController(StringRedisTemplate redisTemplate, LettuceConnectionFactory factory) {
		this.redisTemplate = redisTemplate;
		this.factory = factory;
	}

	@PostMapping("/template/{count}")
	Map<String, Integer> template(@PathVariable int count) {
		for (int from = 0; from < count; from += BATCH) {
			int first = from;
			int end = Math.min(count, from + BATCH);
			RedisCallback<Object> sets = (connection) -> {
				RedisStringCommands strings = connection.stringCommands();
				for (int i = first; i < end; i++) {
					String digits = Digits.of(i);
					strings.set(bytes("keyA" + digits), bytes("value-" + digits));
				}
				return null;
			};
			this.redisTemplate.executePipelined(sets);
		}
		return Map.of("applied", count);
	}

	@PostMapping("/async/{count}")
	Map<String, Integer> async(@PathVariable int count) {
		RedisClusterClient client = (RedisClusterClient) this.factory.getRequiredNativeClient();
		try (StatefulRedisClusterConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE)) {
			RedisAdvancedClusterAsyncCommands<byte[], byte[]> commands = connection.async();
			int applied = 0;
			while (applied < count) {
				RedisFuture<?>[] replies = new RedisFuture<?>[Math.min(BATCH, count - applied)];
				for (int i = 0; i < replies.length; i++) {
					String digits = Digits.of(applied + i);
					replies[i] = commands.set(bytes("keyA" + digits), bytes("value-" + digits));
				}
				if (!LettuceFutures.awaitAll(PATIENCE, replies)) {
					throw new IllegalStateException("Not all replies came");
				}
				applied += replies.length;
			}
			return Map.of("applied", applied);
		}
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.US_ASCII);
	}

}
