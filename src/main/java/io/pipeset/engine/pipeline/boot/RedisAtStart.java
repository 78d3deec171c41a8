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
 * Says at the start which Redis the service talks to, or which properties to set if there
 * is none. It also opens the first connection, for which the first job would otherwise
 * have to wait.
 */
@Component
class RedisAtStart {

	private static final Logger logger = LoggerFactory.getLogger(RedisAtStart.class);

	private final RedisNodes nodes;

	RedisAtStart(RedisNodes nodes) {
		this.nodes = nodes;
	}

	@EventListener(ApplicationStartedEvent.class)
	void ask() {
		try {
			List<RedisNode> masters = this.nodes.masters();
			if (masters.size() > 1) {
				logger.info("Redis Cluster with {} masters: {}", masters.size(),
						masters.stream().map(RedisNode::name).sorted().collect(Collectors.joining(", ")));
			}
			masters.forEach(this::ask);
		}
		catch (NoConnectionException ex) {
			unreached(ex.isRefusal(), ex.getMessage());
		}
	}

	private void ask(RedisNode node) {
		try {
			logger.info("Redis {} at {}", node.calls().version(), node.name());
			ServerMemory memory = node.memory().end();
			if (memory != null && memory.isEvicting()) {
				logger.warn(
						"Redis at {} evicts keys when it has reached its maxmemory of {} (maxmemory-policy {}): records"
								+ " of jobs may be gone again, and so may receipts and what other instances know of jobs."
								+ " Use noeviction where that matters",
						node.name(), (memory.isLimited()) ? memory.mostBytes() + " bytes" : "0, which is no limit yet",
						memory.policy());
			}
		}
		catch (RedisCallException ex) {
			if (ex.code() != null) {
				logger.info("Redis at {}", node.name());
				return;
			}
			unreached(ex.isRefusal(), ex.getMessage());
		}
	}

	private void unreached(boolean refusal, @Nullable String message) {
		if (refusal) {
			logger.warn("{}. Jobs will be answered with 503 until Redis lets the service in", message);
		}
		else {
			logger.warn("{}. Jobs will be answered with 503 until {}", message, this.nodes.untilReached());
		}
	}

}
