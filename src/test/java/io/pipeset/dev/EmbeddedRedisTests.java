package io.pipeset.dev;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.pipeset.OwnThread;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * The embedded Redis is a real server, requires its password, and ends when it is closed.
 */
class EmbeddedRedisTests {

	/**
	 * Names a verified program, because each start with the defaults verifies it again,
	 * which takes long.
	 */
	private static final EmbeddedRedisOptions DEFAULTS = EmbeddedRedisOptions.defaults()
		.withExecutable(CarriedProgram.verified().toString());

	@Test
	void answersPingWithThePasswordAndRefusesWithout() {
		try (EmbeddedRedis redis = EmbeddedRedis.start(EmbeddedRedisOptions.defaults())) {
			// The greeting waits for an answer no longer than a second.
			await().until(() -> ServerGreeting.query(redis.port(), redis.password()).isPresent());
			assertThat(ServerGreeting.query(redis.port(), "wrong")).isEmpty();
			RedisURI withoutPassword = RedisURI.create(redis.host(), redis.port());
			try (RedisClient client = RedisClient.create(withoutPassword)) {
				assertThatExceptionOfType(RedisException.class).isThrownBy(() -> client.connect().sync().ping())
					.havingRootCause()
					.withMessageContaining("NOAUTH");
			}
		}
	}

	@Test
	void itsTextNamesItWithoutItsPassword() {
		try (EmbeddedRedis redis = EmbeddedRedis.start(DEFAULTS)) {
			assertThat(redis.version()).isEqualTo("7.0.15");
			assertThat(redis).hasToString("Redis 7.0.15 on 127.0.0.1:" + redis.port());
		}
	}

	@Test
	void configurationLinesTakeEffect() {
		try (EmbeddedRedis redis = EmbeddedRedis.start(DEFAULTS.withConfig("maxmemory 2mb", "databases 3"));
				RedisClient client = client(redis)) {
			assertThat(client.connect().sync().configGet("maxmemory", "databases", "save", "appendonly"))
				.containsEntry("maxmemory", "2097152")
				.containsEntry("databases", "3")
				.containsEntry("save", "")
				.containsEntry("appendonly", "no");
		}
	}

	@Test
	void aConfigurationLineIsOneLine() {
		assertThatIllegalArgumentException().isThrownBy(() -> DEFAULTS.withConfig("maxmemory 2mb\nport 1"));
	}

	@Test
	void theErrorOfARefusedConfigurationIsShown() {
		assertThatExceptionOfType(EmbeddedRedisException.class)
			.isThrownBy(() -> EmbeddedRedis.start(DEFAULTS.withConfig("maxmemory plenty")))
			.withMessageContaining("exited with status 1")
			.withMessageContaining("maxmemory plenty")
			.withMessageContaining("spring.data.redis.url");
	}

	@Test
	void closeStopsTheProcess() {
		EmbeddedRedis redis = EmbeddedRedis.start(DEFAULTS);
		ProcessHandle server = ProcessHandle.of(redis.pid()).orElseThrow();
		assertThat(server.info().command()).hasValueSatisfying((command) -> assertThat(command).contains("redis"));
		redis.close();
		redis.close();
		assertThat(redis.isRunning()).isFalse();
		assertThat(server.isAlive()).isFalse();
		assertThatIllegalStateException().isThrownBy(redis::restart);
	}

	@Test
	void severalStartedAtOnceDoNotCollide(@TempDir Path cache) {
		EmbeddedRedisOptions options = EmbeddedRedisOptions.defaults().withCacheDirectory(cache);
		var starts = IntStream.range(0, 4)
			.mapToObj((i) -> OwnThread.supply(() -> EmbeddedRedis.start(options)))
			.toList();
		Set<Integer> ports = new HashSet<>();
		for (var start : starts) {
			try (EmbeddedRedis redis = start.join()) {
				ports.add(redis.port());
				assertThat(
						await().until(() -> ServerGreeting.query(redis.port(), redis.password()), Optional::isPresent)
							.orElseThrow()
							.pid())
					.isEqualTo(redis.pid());
			}
		}
		assertThat(ports).hasSize(4);
	}

	@Test
	void restartKeepsPortAndPasswordAndNothingElse() {
		try (EmbeddedRedis redis = EmbeddedRedis.start(DEFAULTS)) {
			int port = redis.port();
			String password = redis.password();
			long pid = redis.pid();
			ProcessHandle.of(pid).orElseThrow().destroyForcibly();
			await().until(() -> !redis.isRunning());
			redis.restart();
			assertThat(redis.port()).isEqualTo(port);
			assertThat(redis.password()).isEqualTo(password);
			assertThat(redis.pid()).isNotEqualTo(pid);
			await().until(() -> ServerGreeting.query(port, password).isPresent());
		}
	}

	@Test
	void restartKeepsDataIfPersistenceIsConfigured() {
		try (EmbeddedRedis redis = EmbeddedRedis.start(DEFAULTS.withConfig("appendonly yes", "appendfsync always"));
				RedisClient client = client(redis)) {
			client.connect().sync().set("key", "value");
			redis.stop();
			assertThat(redis.isRunning()).isFalse();
			redis.restart();
			assertThat(client.connect().sync().get("key")).isEqualTo("value");
		}
	}

	@Test
	void aMissingProgramIsNamed() {
		assertThatExceptionOfType(EmbeddedRedisException.class)
			.isThrownBy(() -> EmbeddedRedis.start(DEFAULTS.withExecutable("no-such-redis-server")))
			.withMessageContaining("'no-such-redis-server'")
			.withMessageContaining("pipeset.embedded-redis.executable")
			.withMessageContaining("not an executable file on the PATH");
	}

	@Test
	void theOutputOfAProgramThatIsNotRedisIsShown(@TempDir Path directory) throws Exception {
		Path program = script(directory, "echo I am a teapot; exit 3");
		assertThatExceptionOfType(EmbeddedRedisException.class)
			.isThrownBy(() -> EmbeddedRedis.start(DEFAULTS.withExecutable(program.toString())))
			.withMessageContaining("exited with status 3")
			.withMessageContaining("I am a teapot");
	}

	@Test
	void aProgramThatNeverAnswersIsKilled(@TempDir Path directory) throws Exception {
		Path program = script(directory, "echo $$ > \"$0.new\"; mv \"$0.new\" \"$0.pid\"; exec sleep 1000");
		Duration patience = Duration.ofMillis(500);
		EmbeddedRedisOptions options = DEFAULTS.withExecutable(program.toString());
		assertThatExceptionOfType(EmbeddedRedisException.class)
			.isThrownBy(() -> EmbeddedRedis.start(options.withStartTimeout(patience)))
			.withMessageContaining("did not answer PING within 500 ms");
		if (Files.notExists(Path.of(program + ".pid"))) {
			// On a very busy machine the timeout may end before the program has written
			// its file.
			assertThatExceptionOfType(EmbeddedRedisException.class)
				.isThrownBy(() -> EmbeddedRedis.start(options.withStartTimeout(patience.multipliedBy(40))));
		}
		long pid = Long.parseLong(Files.readString(Path.of(program + ".pid")).strip());
		await().until(() -> ProcessHandle.of(pid).isEmpty());
	}

	private static Path script(Path directory, String body) throws Exception {
		Path file = directory.resolve("program");
		Files.writeString(file, "#!/bin/sh\n" + body + "\n");
		assertThat(file.toFile().setExecutable(true)).isTrue();
		return file;
	}

	private static RedisClient client(EmbeddedRedis redis) {
		return RedisClient.create(RedisURI.builder()
			.withHost(redis.host())
			.withPort(redis.port())
			.withPassword(redis.password().toCharArray())
			.build());
	}

}
