package io.pipeset.web.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;

import io.pipeset.redis.TestRedis;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

/** What people write without the service, with the retries that they add. */
enum OnceRivals {

	/** The file is sent again from its start until redis-cli finds no error. */
	PIPE("redis-cli --pipe") {
		@Override
		BitSet load(OnceRecords records, TestRedis redis, int port) {
			try {
				Path file = Files.createTempFile("once", ".resp");
				try {
					Files.writeString(file, records.commands());
					return pipe(records, redis, port, file);
				}
				finally {
					Files.delete(file);
				}
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		@Override
		boolean isInstalled() {
			try {
				return new ProcessBuilder("redis-cli", "--version").start().waitFor() == 0;
			}
			catch (IOException ex) {
				return false;
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		private BitSet pipe(OnceRecords records, TestRedis redis, int port, Path file) throws IOException {
			ProcessBuilder program = new ProcessBuilder("redis-cli", "-h", "127.0.0.1", "-p", Integer.toString(port),
					"--pipe", "--pipe-timeout", "10")
				.redirectInput(file.toFile())
				.redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD);
			String password = redis.password();
			if (password != null) {
				program.environment().put("REDISCLI_AUTH", password);
			}
			for (int attempt = 0; attempt < PIPE_ATTEMPTS; attempt++) {
				if (await(program.start()) == 0) {
					return new BitSet();
				}
				pause(50);
			}
			return all(0, records.size());
		}
	},

	/** 500 records a pipeline, and one that fails is sent again up to three times. */
	LOOP("executePipelined") {
		@Override
		BitSet load(OnceRecords records, TestRedis redis, int port) {
			LettuceConnectionFactory factory = new LettuceConnectionFactory(configuration(redis, port),
					LettuceClientConfiguration.builder().commandTimeout(Duration.ofSeconds(10)).build());
			factory.afterPropertiesSet();
			factory.start();
			try {
				StringRedisTemplate template = new StringRedisTemplate(factory);
				BitSet unknown = new BitSet();
				for (int from = 0; from < records.size(); from += 500) {
					int to = Math.min(from + 500, records.size());
					if (!send(records, template, from, to)) {
						unknown.or(all(from, to));
					}
				}
				return unknown;
			}
			finally {
				factory.destroy();
			}
		}

		private boolean send(OnceRecords records, StringRedisTemplate template, int from, int to) {
			for (int attempt = 0; attempt < 4; attempt++) {
				try {
					template.executePipelined((RedisCallback<?>) (connection) -> {
						for (int i = from; i < to; i++) {
							records.send(connection, i);
						}
						return null;
					});
					return true;
				}
				catch (DataAccessException ex) {
					// A server that starts again takes a moment.
					pause(200 << attempt);
				}
			}
			return false;
		}

		private RedisConfiguration configuration(TestRedis redis, int port) {
			RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration("127.0.0.1", port);
			String password = redis.password();
			configuration.setPassword((password != null) ? RedisPassword.of(password) : RedisPassword.none());
			return configuration;
		}
	};

	private static final int PIPE_ATTEMPTS = 600;

	private final String label;

	OnceRivals(String label) {
		this.label = label;
	}

	/**
	 * Loads the records, and sends again what has failed.
	 * @param port the port of the way to Redis
	 * @return the records of which the loader does not know whether they ran
	 */
	abstract BitSet load(OnceRecords records, TestRedis redis, int port);

	boolean isInstalled() {
		return true;
	}

	private static BitSet all(int from, int to) {
		BitSet all = new BitSet();
		all.set(from, to);
		return all;
	}

	private static int await(Process process) {
		try {
			if (!process.waitFor(60, TimeUnit.SECONDS)) {
				process.destroyForcibly();
			}
			return process.waitFor();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void pause(int millis) {
		try {
			TimeUnit.MILLISECONDS.sleep(millis);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public String toString() {
		return this.label;
	}

}
