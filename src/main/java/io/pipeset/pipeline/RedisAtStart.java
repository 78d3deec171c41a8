package io.pipeset.pipeline;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.stereotype.Component;

/**
 * Says at the start which Redis the service talks to, or what to set where there is none.
 * It also opens the first connection, for which the first job would have to wait
 * otherwise.
 */
@Component
class RedisAtStart {

	private static final Logger logger = LoggerFactory.getLogger(RedisAtStart.class);

	private final LettuceConnectionFactory factory;

	RedisAtStart(LettuceConnectionFactory factory) {
		this.factory = factory;
	}

	@EventListener(ApplicationStartedEvent.class)
	void ask() {
		String address = this.factory.getHostName() + ":" + this.factory.getPort();
		try (RedisConnection connection = this.factory.getConnection()) {
			Object version = connection.serverCommands().info("server").get("redis_version");
			logger.info("Redis {} at {}", version, address);
		}
		catch (DataAccessException ex) {
			logger.warn(
					"No Redis at {}: {}. Jobs will be answered with 503 until there is one;"
							+ " set spring.data.redis.host and .port, or spring.data.redis.url, to name another",
					address, NestedExceptionUtils.getMostSpecificCause(ex).getMessage());
		}
	}

}
