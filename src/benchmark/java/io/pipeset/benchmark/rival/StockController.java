package io.pipeset.benchmark.rival;

import java.nio.charset.StandardCharsets;
import java.util.Map;

import org.springframework.context.annotation.Profile;
import org.springframework.data.redis.connection.RedisStringCommands;
import org.springframework.data.redis.connection.lettuce.LettuceConnection.PipeliningFlushPolicy;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Spring Data Redis at its best: with batches, bytes and a choice of flush policy. */
@RestController
@Profile(FirstTryApplication.PROFILE)
class StockController {

	private static final int BATCH = 10_000;

	private static final int BUFFERED = 256;

	private final StringRedisTemplate redisTemplate;

	private final LettuceConnectionFactory factory;

	StockController(StringRedisTemplate redisTemplate, LettuceConnectionFactory factory) {
		this.redisTemplate = redisTemplate;
		this.factory = factory;
	}

	@PostMapping("/pipeset/{count}")
	Map<String, Integer> pipeset(@PathVariable int count, @RequestParam String flush) {
		this.factory.setPipeliningFlushPolicy(policy(flush));
		for (int from = 0; from < count; from += BATCH) {
			run(from, Math.min(count, from + BATCH));
		}
		return Map.of("applied", count);
	}

	private void run(int from, int to) {
		RedisCallback<Object> sets = (connection) -> {
			RedisStringCommands strings = connection.stringCommands();
			for (int i = from; i < to; i++) {
				String digits = Digits.of(i);
				strings.set(("keyA" + digits).getBytes(StandardCharsets.US_ASCII),
						("value-" + digits).getBytes(StandardCharsets.US_ASCII));
			}
			return null;
		};
		this.redisTemplate.executePipelined(sets);
	}

	private static PipeliningFlushPolicy policy(String name) {
		return switch (name) {
			case "each" -> PipeliningFlushPolicy.flushEachCommand();
			case "buffered" -> PipeliningFlushPolicy.buffered(BUFFERED);
			case "close" -> PipeliningFlushPolicy.flushOnClose();
			default -> throw new IllegalArgumentException(name);
		};
	}

}
