package io.pipeset.dev;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

/**
 * Starts a Redis if none is configured, and provides it to Boot's Lettuce
 * auto-configuration.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(EmbeddedRedisConfiguration.Properties.class)
class EmbeddedRedisConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(EmbeddedRedisConfiguration.class);

	// Closed last, because Lettuce's beans need its connection details.
	@Bean(destroyMethod = "close")
	@ConditionalOnBooleanProperty(name = "pipeset.embedded-redis.enabled", matchIfMissing = true)
	@Conditional(OnNoRedisConfigured.class)
	EmbeddedRedis embeddedRedis(Properties properties) {
		String executable = properties.executable();
		EmbeddedRedis redis = EmbeddedRedis.start((StringUtils.hasText(executable)) ? executable : null);
		logger.info("Started {}: a development default that persists nothing; "
				+ "set spring.data.redis.url to use a Redis of your own", redis);
		logger.info("To inspect it, run: {}", redis.commandLine());
		return redis;
	}

	/**
	 * The settings of the Redis that is started automatically in development.
	 *
	 * @param enabled whether to start it if no other Redis is configured
	 * @param executable the server program to start instead of the redis-server on the
	 * class path, such as {@code valkey-server}: a path, or a name on the PATH
	 */
	@ConfigurationProperties("pipeset.embedded-redis")
	record Properties(@DefaultValue("true") boolean enabled, @Nullable String executable) {
	}

	/**
	 * Matches if no property of Redis is set, not even a timeout.
	 */
	static final class OnNoRedisConfigured extends SpringBootCondition {

		private static final ConfigurationPropertyName REDIS = ConfigurationPropertyName.of("spring.data.redis");

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			ConfigurableEnvironment environment = (ConfigurableEnvironment) context.getEnvironment();
			for (ConfigurationPropertySource source : ConfigurationPropertySources
				.from(environment.getPropertySources())) {
				if (source.containsDescendantOf(REDIS) == ConfigurationPropertyState.PRESENT) {
					return ConditionOutcome.noMatch("something under spring.data.redis is set");
				}
			}
			return ConditionOutcome.match("nothing under spring.data.redis is set");
		}

	}

}
