package io.pipeset.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The tests use the Redis that was chosen, and never silently another one.
 */
class RedisSourceTests {

	@Test
	void anUnknownChoiceNamesTheKnownOnes() {
		assertThatIllegalStateException().isThrownBy(() -> RedisSource.open("podman"))
			.withMessage("PIPESET_TEST_REDIS=podman is none of auto, url, docker, embedded");
	}

	@Test
	void aGivenServerThatDoesNotAnswerFailsAndFallsThroughToNothing() throws IOException {
		int nobodyListens;
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			nobodyListens = socket.getLocalPort();
		}
		with(RedisSource.URL_VARIABLE, "redis://:secret@127.0.0.1:" + nobodyListens,
				() -> with(RedisSource.FORK, "1",
						() -> assertThatIllegalStateException().isThrownBy(() -> RedisSource.open("url"))
							.withMessageContaining("PIPESET_TEST_REDIS=url does not work")
							.withMessageContaining("127.0.0.1:" + nobodyListens)
							.withMessageNotContaining("secret")));
	}

	@Test
	void aGivenServerIsRefusedToAFurtherProcessOfTests() {
		with(RedisSource.URL_VARIABLE, "redis://127.0.0.1:6379",
				() -> with(RedisSource.FORK, "2",
						() -> assertThatIllegalStateException().isThrownBy(() -> RedisSource.open("url"))
							.withMessageContaining("run them with -Dtest.forks=1")));
	}

	@Test
	void aSocketThatIsNotThereIsNoDockerEngine(@TempDir Path directory) {
		assertThat(DockerEngine.answers("unix://" + directory.resolve("docker.sock"))).isFalse();
		assertThat(DockerEngine.answers("nonsense")).isFalse();
	}

	private static void with(String property, String value, Runnable check) {
		String before = System.getProperty(property);
		System.setProperty(property, value);
		try {
			check.run();
		}
		finally {
			if (before != null) {
				System.setProperty(property, before);
			}
			else {
				System.clearProperty(property);
			}
		}
	}

}
