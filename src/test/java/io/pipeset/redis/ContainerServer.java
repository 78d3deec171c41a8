package io.pipeset.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import io.lettuce.core.RedisURI;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;

/**
 * A server in a container, on a port of the engine's host that stays the same over
 * restarts.
 */
final class ContainerServer implements RedisServer {

	private static final DockerImageName IMAGE = DockerImageName.parse("redis:7.4");

	private static final int REDIS_PORT = 6379;

	private static final String CONFIG = "/tmp/pipeset-redis.conf";

	private final GenericContainer<?> container;

	private final RedisURI uri;

	private ContainerServer(GenericContainer<?> container, RedisURI uri) {
		this.container = container;
		this.uri = uri;
	}

	static ContainerServer start(String... configLines) {
		String password = UUID.randomUUID().toString().replace("-", "");
		List<String> config = new ArrayList<>(
				List.of("bind * -::*", "requirepass " + password, "save \"\"", "appendonly no"));
		config.addAll(List.of(configLines));
		// The container is not in a try-with-resources, as it lives as long as the server
		// that is returned.
		GenericContainer<?> container = new GenericContainer<>(IMAGE);
		try {
			container.withExposedPorts(REDIS_PORT)
				.withCopyToContainer(Transferable.of(String.join("\n", config) + "\n"), CONFIG)
				.withCommand("redis-server", CONFIG);
			container.setPortBindings(List.of(ClusterFormation.freePort() + ":" + REDIS_PORT));
			container.start();
			ContainerServer server = new ContainerServer(container,
					RedisURI.builder()
						.withHost(container.getHost())
						.withPort(container.getMappedPort(REDIS_PORT))
						.withPassword(password.toCharArray())
						.build());
			RedisPing.await(server.uri());
			return server;
		}
		catch (RuntimeException ex) {
			container.stop();
			throw ex;
		}
	}

	@Override
	public RedisURI uri() {
		return this.uri;
	}

	@Override
	public void kill() {
		if (isRunning()) {
			this.container.getDockerClient().killContainerCmd(this.container.getContainerId()).exec();
			while (isRunning()) {
				Thread.onSpinWait();
			}
		}
	}

	@Override
	public void pause() {
		this.container.getDockerClient().pauseContainerCmd(this.container.getContainerId()).exec();
	}

	@Override
	public void resume() {
		this.container.getDockerClient().unpauseContainerCmd(this.container.getContainerId()).exec();
	}

	@Override
	public void restart() {
		kill();
		this.container.getDockerClient().startContainerCmd(this.container.getContainerId()).exec();
		RedisPing.await(this.uri);
	}

	@Override
	public void close() {
		this.container.stop();
	}

	private boolean isRunning() {
		return this.container.isRunning();
	}

}
