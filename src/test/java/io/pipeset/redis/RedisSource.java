package io.pipeset.redis;

import java.util.Arrays;
import java.util.Locale;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;

/**
 * The sources of a Redis for tests, in the order in which they are tried.
 */
enum RedisSource {

	/**
	 * A server that is running already.
	 */
	URL {

		@Override
		RedisServer shared() {
			String url = setting(URL_VARIABLE);
			if (url == null) {
				throw new IllegalStateException(URL_VARIABLE + " is not set, for example to redis://127.0.0.1:6379");
			}
			if (!System.getProperty(FORK, "1").equals("1")) {
				throw new IllegalStateException("The Redis of " + URL_VARIABLE
						+ " is one, which two processes of tests would flush each other: run them with -Dtest.forks=1");
			}
			RedisURI uri = RedisURI.create(url);
			try {
				RedisPing.once(uri);
			}
			catch (RedisException ex) {
				throw new IllegalStateException("The Redis of " + URL_VARIABLE + " (" + uri.getHost() + ":"
						+ uri.getPort() + ") does not answer PING", ex);
			}
			return new GivenServer(uri);
		}

		@Override
		RedisServer start(String... configLines) {
			return EmbeddedServer.start(configLines);
		}

	},

	/**
	 * A container for each server.
	 */
	DOCKER {

		@Override
		RedisServer shared() {
			return start();
		}

		@Override
		RedisServer start(String... configLines) {
			if (!DockerEngine.answers()) {
				throw new IllegalStateException("No Docker engine answers at any of " + DockerEngine.addresses()
						+ "; DOCKER_HOST names another");
			}
			return ContainerServer.start(configLines);
		}

	},

	/**
	 * The service's own launcher, with the carried server or the program that a variable
	 * names.
	 */
	EMBEDDED {

		@Override
		RedisServer shared() {
			return start();
		}

		@Override
		RedisServer start(String... configLines) {
			return EmbeddedServer.start(configLines);
		}

	};

	static final String VARIABLE = "PIPESET_TEST_REDIS";

	static final String URL_VARIABLE = "PIPESET_TEST_REDIS_URL";

	/** The number of this process of tests, from 1. */
	static final String FORK = "test.fork";

	static final String EXECUTABLE_VARIABLE = "PIPESET_TEST_REDIS_EXECUTABLE";

	/**
	 * Opens the server that all tests of this JVM share.
	 * @throws RuntimeException if this source has none; its message says why
	 */
	abstract RedisServer shared();

	/**
	 * Starts a server for one test.
	 * @throws RuntimeException if it does not start
	 */
	abstract RedisServer start(String... configLines);

	String choice() {
		return name().toLowerCase(Locale.ROOT);
	}

	/**
	 * Opens the chosen source, or for "auto" the first one that works.
	 * @param choice one of auto, url, docker, embedded
	 * @return the source and its shared server
	 * @throws IllegalStateException if the chosen source does not work, or for "auto"
	 * none
	 */
	static Opened open(String choice) {
		StringBuilder reasons = new StringBuilder();
		for (RedisSource source : values()) {
			if (choice.equals("auto") || choice.equals(source.choice())) {
				try {
					return new Opened(source, source.shared());
				}
				catch (RuntimeException ex) {
					if (!choice.equals("auto")) {
						throw new IllegalStateException(VARIABLE + "=" + choice + " does not work: " + ex.getMessage(),
								ex);
					}
					reasons.append(System.lineSeparator()).append(source.choice()).append(": ").append(ex.getMessage());
				}
			}
		}
		if (reasons.isEmpty()) {
			throw new IllegalStateException(VARIABLE + "=" + choice + " is none of auto, "
					+ String.join(", ", Arrays.stream(values()).map(RedisSource::choice).toList()));
		}
		throw new IllegalStateException("There is no Redis for the tests:" + reasons);
	}

	static @Nullable String setting(String name) {
		String value = System.getProperty(name, System.getenv(name));
		return (value == null || value.isBlank()) ? null : value.strip();
	}

	/**
	 * A source that works, as its shared server shows.
	 *
	 * @param source the source
	 * @param shared its server for all tests
	 */
	record Opened(RedisSource source, RedisServer shared) {
	}

}
