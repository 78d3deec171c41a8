package io.pipeset.redis;

import java.time.Duration;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;

/**
 * Finds out whether a Redis is really there and accepts its credentials.
 */
final class RedisPing {

	private static final Duration TIMEOUT = Duration.ofMinutes(1);

	private RedisPing() {
	}

	/**
	 * Asks once.
	 * @return what the server answered to {@code INFO server}
	 * @throws RedisException if it cannot be reached or refuses
	 */
	static String once(RedisURI uri) {
		RedisURI impatient = RedisURI.builder(uri).withTimeout(TIMEOUT).build();
		try (RedisClient client = RedisClient.create(impatient);
				StatefulRedisConnection<String, String> connection = client.connect()) {
			connection.sync().ping();
			return connection.sync().info("server");
		}
	}

	/**
	 * Asks until there is an answer, a minute at most.
	 * @throws RedisException if there is none by then
	 */
	static void await(RedisURI uri) {
		long deadline = System.nanoTime() + TIMEOUT.toNanos();
		while (true) {
			try {
				once(uri);
				return;
			}
			catch (RedisException ex) {
				if (System.nanoTime() > deadline) {
					throw ex;
				}
			}
		}
	}

}
