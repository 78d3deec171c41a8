package io.pipeset.pipeline.boot;

import java.util.List;
import java.util.stream.Collectors;

import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.RedisNodes;
import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.pipeline.call.RedisCallException;
import io.pipeset.pipeline.call.ServerMemory;
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

	private static final String REFUSED = "{}. Jobs will be answered with 503 until Redis lets the service in";

	private final RedisNodes nodes;

	RedisAtStart(RedisNodes nodes) {
		this.nodes = nodes;
	}

	@EventListener(ApplicationStartedEvent.class)
	void ask() {
		try {
			List<RedisNode> masters = this.nodes.masters();
			if (this.nodes.isCluster()) {
				logger.info("Redis Cluster with {} masters: {}", masters.size(),
						masters.stream().map(RedisNode::name).sorted().collect(Collectors.joining(", ")));
			}
			masters.forEach(RedisAtStart::ask);
		}
		catch (NoConnectionException ex) {
			logger.warn((ex.isRefusal()) ? REFUSED
					: "{}. Jobs will be answered with 503 until a node of the cluster can be reached;"
							+ " spring.data.redis.cluster.nodes names some of them",
					ex.getMessage());
		}
	}

	private static void ask(RedisNode node) {
		try {
			logger.info("Redis {} at {}", node.calls().version(), node.name());
			ServerMemory memory = node.calls().memory();
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
			if (ex.isRefusal()) {
				logger.warn(REFUSED, ex.getMessage());
				return;
			}
			if (node.watch().isFollowing()) {
				logger.warn("{}. Jobs will be answered with 503 until the Sentinels of spring.data.redis.sentinel.nodes"
						+ " name a master that is there", ex.getMessage());
				return;
			}
			logger.warn(
					"{}. Jobs will be answered with 503 until there is a Redis at {};"
							+ " set spring.data.redis.host and .port, or spring.data.redis.url, to name another",
					ex.getMessage(), node.name());
		}
	}

}
