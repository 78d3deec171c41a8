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
 * The health component {@code redis}. It takes the place of Boot's, which may give a
 * connection back before its answer has come, and so leave that answer to the next job.
 * Callers who ask at the same time get the same answer, so that health never holds more
 * than one connection.
 */
final class RedisHealth implements HealthIndicator {

	private final RedisNodes nodes;

	private final AtomicReference<@Nullable CompletableFuture<Health>> asking = new AtomicReference<>();

	RedisHealth(RedisNodes nodes) {
		this.nodes = nodes;
	}

	@Override
	public Health health() {
		CompletableFuture<Health> own = new CompletableFuture<>();
		CompletableFuture<Health> others = this.asking.compareAndExchange(null, own);
		if (others != null) {
			return others.join();
		}
		try {
			own.complete(ask());
		}
		catch (RuntimeException | Error ex) {
			own.complete(Health.down(ex).build());
		}
		finally {
			this.asking.set(null);
		}
		return own.join();
	}

	private Health ask() {
		try {
			this.nodes.refresh();
			return ask(this.nodes.masters());
		}
		catch (NoConnectionException ex) {
			return Health.down().withDetail("error", String.valueOf(ex.getMessage())).build();
		}
	}

	/**
	 * A cluster is up while any master answers: jobs for the slots of the others run.
	 */
	private Health ask(List<RedisNode> masters) {
		Map<String, Object> details = new TreeMap<>();
		boolean up = false;
		for (RedisNode master : masters) {
			Health health = ask(master);
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

	private static Health ask(RedisNode node) {
		try {
			return Health.up().withDetail("version", node.calls().version()).withDetail("address", node.name()).build();
		}
		catch (RedisCallException ex) {
			if ("NOPERM".equals(ex.code())) {
				// Jobs do without INFO.
				return Health.up().withDetail("version", "unknown: " + ex.getMessage()).build();
			}
			return Health.down().withDetail("error", String.valueOf(ex.getMessage())).build();
		}
	}

}
