package io.pipeset.pipeline.boot;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.pipeset.pipeline.RedisCallException;
import io.pipeset.pipeline.RedisNode;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * The health component {@code redis}. It takes the place of Boot's, which may give a
 * connection back before its answer has come, and so leave that answer to the next job.
 * Callers who ask at the same time get the same answer, so that health never holds more
 * than one connection.
 */
final class RedisHealth implements HealthIndicator {

	private final RedisNode node;

	private final AtomicReference<@Nullable CompletableFuture<Health>> asking = new AtomicReference<>();

	RedisHealth(RedisNode node) {
		this.node = node;
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
			return Health.up()
				.withDetail("version", this.node.calls().version())
				.withDetail("address", this.node.name())
				.build();
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
