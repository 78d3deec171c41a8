package io.pipeset.pipeline;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.context.event.EventListener;
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

	private final RedisCalls calls;

	RedisAtStart(LettuceConnectionFactory factory, RedisCalls calls) {
		this.factory = factory;
		this.calls = calls;
	}

	@EventListener(ApplicationStartedEvent.class)
	void ask() {
		String address = this.factory.getHostName() + ":" + this.factory.getPort();
		try {
			logger.info("Redis {} at {}", this.calls.version(), address);
		}
		catch (RedisCallException ex) {
			if (ex.code() != null) {
				logger.info("Redis at {}", address);
				return;
			}
			logger.warn(
					"No Redis at {}: {}. Jobs will be answered with 503 until there is one;"
							+ " set spring.data.redis.host and .port, or spring.data.redis.url, to name another",
					address,
					(ex.getCause() instanceof NoConnectionException none) ? none.getMessage() : ex.getMessage());
		}
	}

}
