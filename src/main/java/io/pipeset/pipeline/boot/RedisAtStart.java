package io.pipeset.pipeline.boot;

import io.pipeset.pipeline.RedisCallException;
import io.pipeset.pipeline.RedisNode;
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

	private final RedisNode node;

	RedisAtStart(RedisNode node) {
		this.node = node;
	}

	@EventListener(ApplicationStartedEvent.class)
	void ask() {
		try {
			logger.info("Redis {} at {}", this.node.calls().version(), this.node.name());
		}
		catch (RedisCallException ex) {
			if (ex.code() != null) {
				logger.info("Redis at {}", this.node.name());
				return;
			}
			if (this.node.watch().isFollowing()) {
				logger.warn("{}. Jobs will be answered with 503 until the Sentinels of spring.data.redis.sentinel.nodes"
						+ " name a master that is there", ex.getMessage());
				return;
			}
			logger.warn(
					"{}. Jobs will be answered with 503 until there is a Redis at {};"
							+ " set spring.data.redis.host and .port, or spring.data.redis.url, to name another",
					ex.getMessage(), this.node.name());
		}
	}

}
