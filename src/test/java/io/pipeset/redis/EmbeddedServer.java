package io.pipeset.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

import io.lettuce.core.RedisURI;
import io.pipeset.dev.CarriedProgram;
import io.pipeset.dev.ServerProcess;

import static org.awaitility.Awaitility.await;

/**
 * A server from the service's own launcher, which needs nothing but Maven's repository.
 */
final class EmbeddedServer implements RedisServer {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final Path directory;

	/**
	 * Another one for each server, so that no server is taken for one that has its port.
	 */
	private final String password = UUID.randomUUID().toString().replace("-", "");

	private final List<String> configLines;

	private ServerProcess server;

	private EmbeddedServer(List<String> configLines) {
		this.configLines = configLines;
		try {
			this.directory = Files.createTempDirectory("pipeset-redis-");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.server = run(ServerProcess.ANY_PORT);
	}

	static EmbeddedServer start(String... configLines) {
		return new EmbeddedServer(List.of(configLines));
	}

	private ServerProcess run(int port) {
		try {
			return ServerProcess.start(program(), this.directory, port, this.password, this.configLines, PATIENCE);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted", ex);
		}
	}

	@Override
	public synchronized RedisURI uri() {
		return RedisURI.builder()
			.withHost("127.0.0.1")
			.withPort(this.server.port())
			.withPassword(this.password.toCharArray())
			.build();
	}

	/** Its directory remains, and so does its data if it persists any. */
	@Override
	public synchronized void kill() {
		if (this.server.isAlive()) {
			ProcessHandle.of(this.server.pid()).ifPresent(ProcessHandle::destroyForcibly);
		}
		await().until(() -> !this.server.isAlive());
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
	public synchronized void restart() {
		kill();
		this.server = run(this.server.port());
	}

	@Override
	public synchronized void close() {
		this.server.close();
	}

	private void signal(String name) {
		try {
			Process kill = new ProcessBuilder("/bin/sh", "-c", "kill -" + name + " " + this.server.pid()).inheritIO()
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

	private static Path program() {
		String named = RedisSource.setting(RedisSource.EXECUTABLE_VARIABLE);
		return (named != null) ? CarriedProgram.other(named) : CarriedProgram.verified();
	}

}
