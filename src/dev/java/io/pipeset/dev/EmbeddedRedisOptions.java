package io.pipeset.dev;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The options of an embedded Redis.
 *
 * @param executable the server program: a path, or a name to look up on {@code PATH};
 * {@code null} for the redis-server on the class path
 * @param configLines lines for redis.conf such as {@code maxmemory 2mb}, which override
 * the launcher's lines; never {@code null}
 * @param startTimeout how long to wait until the server answers; positive
 * @param cacheDirectory the directory for the unpacked redis-server; {@code null} for the
 * user's cache directory
 */
public record EmbeddedRedisOptions(@Nullable String executable, List<String> configLines, Duration startTimeout,
		@Nullable Path cacheDirectory) {

	/**
	 * Checks and copies the options.
	 * @throws IllegalArgumentException if the executable is blank, a configuration line
	 * contains a line break or the timeout is not positive
	 */
	public EmbeddedRedisOptions {
		if (executable != null && executable.isBlank()) {
			throw new IllegalArgumentException("'executable' must not be blank");
		}
		configLines = List.copyOf(configLines);
		for (String line : configLines) {
			if (line.indexOf('\n') >= 0 || line.indexOf('\r') >= 0) {
				throw new IllegalArgumentException("A configuration line must not contain a line break: " + line);
			}
		}
		if (startTimeout.isNegative() || startTimeout.isZero()) {
			throw new IllegalArgumentException("'startTimeout' must be positive");
		}
	}

	/**
	 * The redis-server on the class path, no further configuration and 15 seconds to
	 * start.
	 */
	public static EmbeddedRedisOptions defaults() {
		return new EmbeddedRedisOptions(null, List.of(), Duration.ofSeconds(15), null);
	}

	/**
	 * These options with another server program.
	 * @param executable a path, or a name to look up on {@code PATH}; {@code null} for
	 * the redis-server on the class path
	 * @throws IllegalArgumentException if it is blank
	 */
	public EmbeddedRedisOptions withExecutable(@Nullable String executable) {
		return new EmbeddedRedisOptions(executable, this.configLines, this.startTimeout, this.cacheDirectory);
	}

	/**
	 * These options with lines added to the server's configuration.
	 * @param lines lines for redis.conf, without line breaks
	 * @throws IllegalArgumentException if a line contains a line break
	 */
	public EmbeddedRedisOptions withConfig(String... lines) {
		List<String> all = new ArrayList<>(this.configLines);
		all.addAll(List.of(lines));
		return new EmbeddedRedisOptions(this.executable, all, this.startTimeout, this.cacheDirectory);
	}

	/**
	 * These options with another timeout for the start.
	 * @param startTimeout how long to wait until the server answers; positive
	 * @throws IllegalArgumentException if it is not positive
	 */
	public EmbeddedRedisOptions withStartTimeout(Duration startTimeout) {
		return new EmbeddedRedisOptions(this.executable, this.configLines, startTimeout, this.cacheDirectory);
	}

	/**
	 * These options with another directory for the unpacked redis-server.
	 * @param cacheDirectory a directory of the current user, created if missing;
	 * {@code null} for the user's cache directory
	 */
	public EmbeddedRedisOptions withCacheDirectory(@Nullable Path cacheDirectory) {
		return new EmbeddedRedisOptions(this.executable, this.configLines, this.startTimeout, cacheDirectory);
	}

}
