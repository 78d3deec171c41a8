package io.pipeset.engine.pipeline.boot;

import java.util.List;
import java.util.stream.Collectors;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.ServerMemory;
import io.pipeset.engine.servers.RedisNodes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Logs at the start which Redis the service uses, or which properties to set if Redis
 * cannot be reached. It also opens the first connection, so that the first job need not
 * wait for it.
 */
@Component
class RedisAtStart {

	private static final Logger logger = LoggerFactory.getLogger(RedisAtStart.class);

	private final RedisNodes nodes;

	RedisAtStart(RedisNodes nodes) {
		this.nodes = nodes;
	}

	@EventListener(ApplicationStartedEvent.class)
	void check() {
		try {
			List<RedisNode> masters = this.nodes.masters();
			if (masters.size() > 1) {
				logger.info("Redis Cluster with {} masters: {}", masters.size(),
						masters.stream().map(RedisNode::name).sorted().collect(Collectors.joining(", ")));
			}
			masters.forEach(this::check);
		}
		catch (NoConnectionException ex) {
			logUnreachable(ex.isRefusal(), ex.getMessage());
		}
	}

	private void check(RedisNode node) {
		try {
			logger.info("Redis {} at {}", node.calls().version(), node.name());
			ServerMemory memory = node.memory().end();
			if (memory != null && memory.isEvicting()) {
				logger.warn(
						"Redis at {} evicts keys when it reaches its maxmemory of {} (maxmemory-policy {}): it may evict"
								+ " the data of jobs, receipts, and the records that instances share about jobs."
								+ " Use noeviction if that matters",
						node.name(), (memory.isLimited()) ? memory.mostBytes() + " bytes" : "0, which means no limit",
						memory.policy());
			}
		}
		catch (RedisCallException ex) {
			if (ex.code() != null) {
				logger.info("Redis at {}", node.name());
				return;
			}
			logUnreachable(ex.isRefusal(), ex.getMessage());
		}
	}

	private void logUnreachable(boolean refusal, @Nullable String message) {
		if (refusal) {
			logger.warn("{}. Jobs get status 503 until Redis accepts the service", message);
		}
		else {
			logger.warn("{}. Jobs get status 503 until {}", message, this.nodes.untilReached());
		}
	}

}
