package io.pipeset.keep.control;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.stereotype.Component;

/**
 * The idempotency keys in the control Redis: each is a key with the id of its job, whose
 * record has the answer to repeats. Every method throws {@link ControlRedisException} if
 * the control Redis cannot be reached, or refuses.
 */
@Component
public class KeyRecords {

	/**
	 * Sets an idempotency key to a job, unless another job has it, which is the reply.
	 */
	private static final RedisScript<byte[]> POINT = RedisScript.of("""
			local job = redis.call('GET', KEYS[1])
			if job and job ~= ARGV[2] and job ~= ARGV[3] then
				return job
			end
			redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
			return false""", byte[].class);

	private static final RedisScript<Long> RELEASE = RedisScript.of("""
			if redis.call('GET', KEYS[1]) ~= ARGV[1] then
				return 0
			end
			return redis.call('DEL', KEYS[1])""", Long.class);

	private final ControlRedis redis;

	KeyRecords(ControlRedis redis) {
		this.redis = redis;
	}

	/**
	 * Sets an idempotency key to a job.
	 * @param from the id of a job that the key may be taken from; empty for none
	 * @param keptFor how long the key lasts
	 * @return the id of the other job that has the key; {@code null} if this one has it
	 */
	public @Nullable String point(String key, String id, String from, Duration keptFor) {
		byte[] other = this.redis.execute(POINT, keyName(key), bytes(Long.toString(keptFor.toMillis())), bytes(id),
				bytes(from));
		return (other != null) ? text(other) : null;
	}

	/** The id of the job that has an idempotency key; {@code null} if none has. */
	public @Nullable String jobOf(String key) {
		return this.redis.call((template) -> Optional.ofNullable(template.opsForValue().get(keyName(key))))
			.map(KeyRecords::text)
			.orElse(null);
	}

	/** Releases an idempotency key, if a job has it. */
	public void release(String key, String id) {
		this.redis.execute(RELEASE, keyName(key), bytes(id));
	}

	/** Hashes an idempotency key, to bound its size and hide the caller's text. */
	private String keyName(String key) {
		try {
			byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes(key));
			return this.redis.key("key", HexFormat.of().formatHex(hash));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
