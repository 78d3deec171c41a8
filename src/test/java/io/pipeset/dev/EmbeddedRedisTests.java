package io.pipeset.dev;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
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
import static org.awaitility.Awaitility.await;

/**
 * The embedded Redis is a real server, requires its password, and ends when it is closed.
 */
class EmbeddedRedisTests {

	/**
	 * Names a verified program, because each start without one unpacks it again, which
	 * takes long.
	 */
	private static final String VERIFIED = CarriedProgram.verified().toString();

	@Test
	void answersPingWithThePasswordAndRefusesWithout() {
		try (EmbeddedRedis redis = EmbeddedRedis.start(null)) {
			// A query waits for an answer no longer than a second.
			await().until(() -> !ServerProcess.query(redis.port(), redis.getPassword()).isEmpty());
			assertThat(ServerProcess.query(redis.port(), "wrong")).isEmpty();
			RedisURI withoutPassword = RedisURI.create("127.0.0.1", redis.port());
			try (RedisClient client = RedisClient.create(withoutPassword)) {
				assertThatExceptionOfType(RedisException.class).isThrownBy(() -> client.connect().sync().ping())
					.havingRootCause()
					.withMessageContaining("NOAUTH");
			}
		}
	}

	@Test
	void itsTextNamesItWithoutItsPassword() {
		try (EmbeddedRedis redis = EmbeddedRedis.start(VERIFIED)) {
			assertThat(redis.version()).isEqualTo("Redis 7.0.15");
			assertThat(redis).hasToString("Redis 7.0.15 on 127.0.0.1:" + redis.port());
		}
	}

	@Test
	void configurationLinesTakeEffect() {
		try (EmbeddedRedis redis = EmbeddedRedis.start(VERIFIED, "maxmemory 2mb", "databases 3");
				RedisClient client = client(redis)) {
			assertThat(client.connect().sync().configGet("maxmemory", "databases", "save", "appendonly"))
				.containsEntry("maxmemory", "2097152")
				.containsEntry("databases", "3")
				.containsEntry("save", "")
				.containsEntry("appendonly", "no");
		}
	}

	@Test
	void theErrorOfARefusedConfigurationIsShown() {
		assertThatExceptionOfType(EmbeddedRedisException.class)
			.isThrownBy(() -> EmbeddedRedis.start(VERIFIED, "maxmemory plenty"))
			.withMessageContaining("exited with status 1")
			.withMessageContaining("maxmemory plenty");
	}

	@Test
	void closeStopsTheProcess() {
		EmbeddedRedis redis = EmbeddedRedis.start(VERIFIED);
		ProcessHandle server = ProcessHandle.of(redis.pid()).orElseThrow();
		assertThat(server.info().command()).hasValueSatisfying((command) -> assertThat(command).contains("redis"));
		redis.close();
		redis.close();
		assertThat(server.isAlive()).isFalse();
	}

	@Test
	void severalStartedAtOnceDoNotCollide() {
		var starts = IntStream.range(0, 4).mapToObj((i) -> OwnThread.supply(() -> EmbeddedRedis.start(null))).toList();
		Set<Integer> ports = new HashSet<>();
		for (var start : starts) {
			try (EmbeddedRedis redis = start.join()) {
				ports.add(redis.port());
				await().untilAsserted(() -> assertThat(ServerProcess.query(redis.port(), redis.getPassword()))
					.contains("process_id:" + redis.pid()));
			}
		}
		assertThat(ports).hasSize(4);
	}

	@Test
	void aMissingProgramIsNamed() {
		assertThatExceptionOfType(EmbeddedRedisException.class)
			.isThrownBy(() -> EmbeddedRedis.start("no-such-redis-server"))
			.withMessageContaining("'no-such-redis-server'")
			.withMessageContaining("pipeset.embedded-redis.executable")
			.withMessageContaining("not an executable file on the PATH");
	}

	@Test
	void theOutputOfAProgramThatIsNotRedisIsShown(@TempDir Path directory) throws Exception {
		Path program = script(directory, "echo I am a teapot; exit 3");
		assertThatExceptionOfType(EmbeddedRedisException.class)
			.isThrownBy(() -> EmbeddedRedis.start(program.toString()))
			.withMessageContaining("exited with status 3")
			.withMessageContaining("I am a teapot");
	}

	@Test
	void aProgramThatNeverAnswersIsKilled(@TempDir Path directory) throws Exception {
		Path program = script(directory, "echo $$ > \"$0.new\"; mv \"$0.new\" \"$0.pid\"; exec sleep 1000");
		Duration patience = Duration.ofMillis(500);
		Path data = Files.createDirectory(directory.resolve("data"));
		assertThatExceptionOfType(EmbeddedRedisException.class).isThrownBy(() -> start(program, data, patience))
			.withMessageContaining("did not answer PING within 500 ms");
		if (Files.notExists(Path.of(program + ".pid"))) {
			// On a very busy machine the timeout may end before the program has written
			// its file.
			Files.createDirectories(data);
			assertThatExceptionOfType(EmbeddedRedisException.class)
				.isThrownBy(() -> start(program, data, patience.multipliedBy(40)));
		}
		long pid = Long.parseLong(Files.readString(Path.of(program + ".pid")).strip());
		await().until(() -> ProcessHandle.of(pid).isEmpty());
	}

	private static void start(Path program, Path directory, Duration patience) throws Exception {
		ServerProcess.start(program, directory, ServerProcess.ANY_PORT, "secret", List.of(), patience).close();
	}

	private static Path script(Path directory, String body) throws Exception {
		Path file = directory.resolve("program");
		Files.writeString(file, "#!/bin/sh\n" + body + "\n");
		assertThat(file.toFile().setExecutable(true)).isTrue();
		return file;
	}

	private static RedisClient client(EmbeddedRedis redis) {
		return RedisClient.create(RedisURI.builder()
			.withHost("127.0.0.1")
			.withPort(redis.port())
			.withPassword(redis.getPassword().toCharArray())
			.build());
	}

}
