package io.pipeset.redis;

import java.time.Duration;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;

/**
 * Checks that a Redis answers and accepts the credentials.
 */
final class RedisPing {

	private static final Duration TIMEOUT = Duration.ofMinutes(1);

	private RedisPing() {
	}

	/**
	 * Asks once.
	 * @return the server's answer to {@code INFO server}
	 * @throws RedisException if the server cannot be reached or refuses
	 */
	static String once(RedisURI uri) {
		RedisURI impatient = RedisURI.builder(uri).withTimeout(TIMEOUT).build();
		try (RedisClient client = RedisClient.create(impatient);
				StatefulRedisConnection<String, String> connection = client.connect()) {
			connection.sync().ping();
			return connection.sync().info("server");
		}
	}

	/** The name and version of a server by its answer to {@code INFO server}. */
	static String product(String info) {
		return info.lines()
			.filter((line) -> line.startsWith("valkey_version:"))
			.findFirst()
			.or(() -> info.lines().filter((line) -> line.startsWith("redis_version:")).findFirst())
			.map((line) -> ((line.startsWith("v")) ? "Valkey " : "Redis ")
					+ line.substring(line.indexOf(':') + 1).strip())
			.orElse("Redis of unknown version");
	}

	/**
	 * Asks until the server answers, for a minute at most.
	 * @throws RedisException if it has not answered by then
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
