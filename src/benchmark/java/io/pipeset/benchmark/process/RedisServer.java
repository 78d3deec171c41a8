package io.pipeset.benchmark.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.pipeset.dev.EmbeddedRedis;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.FlushMode;

/**
 * The Redis of a run, a process of its own that keeps nothing on disk: the program that
 * {@code PIPESET_TEST_REDIS_EXECUTABLE} names as it does for the tests, the installed
 * redis-server, or else the one that development uses.
 */
public final class RedisServer implements AutoCloseable {

	private static final String INSTALLED = "redis-server";

	private final EmbeddedRedis redis;

	private RedisServer(EmbeddedRedis redis) {
		this.redis = redis;
	}

	/**
	 * Starts a Redis on a port of its own.
	 * @param lines further lines for its configuration
	 * @return the server, to be closed by the caller
	 */
	public static RedisServer start(String... lines) {
		String named = Objects.requireNonNullElse(System.getenv("PIPESET_TEST_REDIS_EXECUTABLE"), "");
		String executable = (named.isBlank()) ? INSTALLED : named.strip();
		boolean found = !named.isBlank() || Program.find(INSTALLED).isPresent();
		return new RedisServer(EmbeddedRedis.start((found) ? executable : null, lines));
	}

	public Address address() {
		return new Address(this.redis.port(), this.redis.getPassword());
	}

	public long pid() {
		return this.redis.pid();
	}

	/**
	 * The kind of this server.
	 * @return product and version
	 */
	public String version() {
		return this.redis.version();
	}

	/** Empties the server, and waits until that is done. */
	public void flush() {
		try (Jedis jedis = connect(address())) {
			jedis.flushAll(FlushMode.SYNC);
		}
	}

	/**
	 * The number of keys.
	 * @return DBSIZE
	 */
	public long size() {
		try (Jedis jedis = connect(address())) {
			return jedis.dbSize();
		}
	}

	/**
	 * The number of elements of a list or set.
	 * @param key its key
	 * @return LLEN or SCARD
	 */
	public long length(String key) {
		try (Jedis jedis = connect(address())) {
			return (jedis.type(key).equals("set")) ? jedis.scard(key) : jedis.llen(key);
		}
	}

	/**
	 * Opens a connection.
	 * @param address the address of a Redis
	 * @return the connection, to be closed by the caller
	 */
	public static Jedis connect(Address address) {
		Jedis jedis = new Jedis(Address.HOST, address.port(), 60_000);
		jedis.auth(address.password());
		return jedis;
	}

	/**
	 * Sends a file through {@code redis-cli --pipe}.
	 * @param redisCli the program
	 * @param address the address of the Redis
	 * @param resp the commands
	 * @return the number of replies, all of them good
	 */
	public static long pipe(Program redisCli, Address address, Path resp) {
		return replies(redisCli.run(resp, Map.of("REDISCLI_AUTH", address.password()),
				List.of("-h", Address.HOST, "-p", String.valueOf(address.port()), "--pipe")));
	}

	/**
	 * Reads what {@code redis-cli --pipe} says at its end.
	 * @param output its output
	 * @return the number of replies, all of them good
	 */
	public static long replies(String output) {
		String last = output.substring(output.lastIndexOf('\n') + 1);
		if (!last.matches("errors: 0, replies: \\d+")) {
			throw new BenchmarkException("redis-cli --pipe failed: " + output);
		}
		return Long.parseLong(last.replaceAll(".*replies: ", ""));
	}

	@Override
	public void close() {
		this.redis.close();
	}

}
