package io.pipeset.engine.pipeline.boot;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.servers.RedisNodes;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

/**
 * The health component {@code redis}. It replaces Boot's component, which may return a
 * connection before its reply has come, so that the next job would read that reply.
 * Concurrent callers share one result, so health never holds more than one connection.
 */
final class RedisHealth implements HealthIndicator {

	private final RedisNodes nodes;

	private final AtomicReference<@Nullable CompletableFuture<Health>> running = new AtomicReference<>();

	RedisHealth(RedisNodes nodes) {
		this.nodes = nodes;
	}

	@Override
	public Health health() {
		CompletableFuture<Health> result = new CompletableFuture<>();
		CompletableFuture<Health> concurrent = this.running.compareAndExchange(null, result);
		if (concurrent != null) {
			return concurrent.join();
		}
		try {
			result.complete(check());
		}
		catch (RuntimeException | Error ex) {
			result.complete(Health.down(ex).build());
		}
		finally {
			this.running.set(null);
		}
		return result.join();
	}

	private Health check() {
		try {
			this.nodes.refresh();
			return check(this.nodes.masters());
		}
		catch (NoConnectionException ex) {
			return Health.down().withDetail("error", String.valueOf(ex.getMessage())).build();
		}
	}

	/**
	 * A cluster is up while any master answers, because jobs for the slots of that master
	 * run.
	 */
	private Health check(List<RedisNode> masters) {
		Map<String, Object> details = new TreeMap<>();
		boolean up = false;
		for (RedisNode master : masters) {
			Health health = check(master);
			String name = this.nodes.nameOfOneOfSeveral(master);
			if (name == null) {
				return health;
			}
			up |= health.getStatus().equals(Status.UP);
			Map<String, Object> detail = new LinkedHashMap<>();
			detail.put("status", health.getStatus().getCode());
			detail.putAll(health.getDetails());
			details.put(name, detail);
		}
		return Health.status((up) ? Status.UP : Status.DOWN).withDetail("masters", details).build();
	}

	private static Health check(RedisNode node) {
		try {
			return Health.up().withDetail("version", node.calls().version()).withDetail("address", node.name()).build();
		}
		catch (RedisCallException ex) {
			if (ex.isOfCommand()) {
				// Jobs do not need INFO.
				return Health.up().withDetail("version", "unknown: " + ex.getMessage()).build();
			}
			return Health.down().withDetail("error", String.valueOf(ex.getMessage())).build();
		}
	}

}
