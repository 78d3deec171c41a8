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
		String address = this.node.name();
		try {
			logger.info("Redis {} at {}", this.node.calls().version(), address);
		}
		catch (RedisCallException ex) {
			if (ex.code() != null) {
				logger.info("Redis at {}", address);
				return;
			}
			logger.warn(
					"{}. Jobs will be answered with 503 until there is a Redis at {};"
							+ " set spring.data.redis.host and .port, or spring.data.redis.url, to name another",
					ex.getMessage(), address);
		}
	}

}
