package io.pipeset.benchmark.rival;

import java.util.Map;

import org.springframework.context.annotation.Profile;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Everything in one pipeline, as a user writes it first. */
@RestController
@Profile(FirstTryApplication.PROFILE)
class FirstTryController {

	private final StringRedisTemplate redisTemplate;

	FirstTryController(StringRedisTemplate redisTemplate) {
		this.redisTemplate = redisTemplate;
	}

	@PostMapping("/pipeset/{count}")
	Map<String, Integer> pipeset(@PathVariable int count) {
		SessionCallback<Object> sets = new SessionCallback<>() {

			@Override
			@SuppressWarnings("unchecked")
			public <K, V> Object execute(RedisOperations<K, V> operations) throws DataAccessException {
				RedisOperations<String, String> strings = (RedisOperations<String, String>) operations;
				for (int i = 0; i < count; i++) {
					String digits = Digits.of(i);
					strings.opsForValue().set("keyA" + digits, "value-" + digits);
				}
				return null;
			}

		};
		this.redisTemplate.executePipelined(sets);
		return Map.of("applied", count);
	}

}
