package io.pipeset.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;

import io.lettuce.core.RedisURI;
import io.pipeset.dev.CarriedProgram;
import io.pipeset.dev.EmbeddedRedis;
import io.pipeset.dev.EmbeddedRedisOptions;

/**
 * A server from the service's own launcher, which needs nothing but Maven's repository.
 */
final class EmbeddedServer implements RedisServer {

	private final EmbeddedRedis redis;

	private EmbeddedServer(EmbeddedRedis redis) {
		this.redis = redis;
	}

	static EmbeddedServer start(String... configLines) {
		return new EmbeddedServer(EmbeddedRedis.start(EmbeddedRedisOptions.defaults()
			.withExecutable(program())
			.withStartTimeout(Duration.ofMinutes(1))
			.withConfig(configLines)));
	}

	@Override
	public RedisURI uri() {
		return RedisURI.builder()
			.withHost(this.redis.host())
			.withPort(this.redis.port())
			.withPassword(this.redis.password().toCharArray())
			.build();
	}

	@Override
	public void kill() {
		this.redis.stop();
	}

	@Override
	public void pause() {
		signal("STOP");
	}

	@Override
	public void resume() {
		signal("CONT");
	}

	@Override
	public void restart() {
		this.redis.restart();
	}

	@Override
	public void close() {
		this.redis.close();
	}

	private void signal(String name) {
		try {
			Process kill = new ProcessBuilder("/bin/sh", "-c", "kill -" + name + " " + this.redis.pid()).inheritIO()
				.start();
			int status = kill.waitFor();
			if (status != 0) {
				throw new IllegalStateException("kill -" + name + " failed with status " + status);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted", ex);
		}
	}

	private static String program() {
		String named = RedisSource.setting(RedisSource.EXECUTABLE_VARIABLE);
		return (named != null) ? named : CarriedProgram.verified().toString();
	}

}
