package io.pipeset.dev;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/**
 * Starts a Redis if none is configured, and provides it to Boot's Lettuce
 * auto-configuration.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(EmbeddedRedisProperties.class)
class EmbeddedRedisConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(EmbeddedRedisConfiguration.class);

	// Closed last, because Lettuce's beans need the connection details, which need this
	// bean.
	@Bean(destroyMethod = "close")
	@Conditional(OnNoRedisConfigured.class)
	EmbeddedRedis embeddedRedis(EmbeddedRedisProperties properties) {
		EmbeddedRedis redis = EmbeddedRedis.start(properties.options());
		logger.info("Started {}: a development default that persists nothing; "
				+ "set spring.data.redis.url to use a Redis of your own", redis);
		logger.info("To inspect it, run: {}", redis.commandLine());
		return redis;
	}

	@Bean
	@Conditional(OnNoRedisConfigured.class)
	DataRedisConnectionDetails embeddedRedisConnectionDetails(EmbeddedRedis embeddedRedis) {
		return new EmbeddedRedisConnectionDetails(embeddedRedis);
	}

}
