package io.pipeset.dev;

import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginTrackedResource;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches if no Redis is configured and the embedded one is enabled.
 */
final class OnNoRedisConfigured extends SpringBootCondition {

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("spring.data.redis");

	/**
	 * The properties that select a Redis, in whichever source they are set. Other
	 * properties, such as timeouts and the pool, may be set in configuration files on the
	 * class path.
	 */
	private static final Set<String> SELECTING = Set.of("url", "host", "port", "username", "password", "database",
			"ssl", "sentinel", "cluster", "masterreplica");

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		ConditionMessage.Builder message = ConditionMessage.forCondition("Embedded Redis");
		Environment environment = context.getEnvironment();
		if (!environment.getProperty("pipeset.embedded-redis.enabled", Boolean.class, true)) {
			return ConditionOutcome.noMatch(message.because("pipeset.embedded-redis.enabled is false"));
		}
		Optional<ConfigurationPropertyName> configured = configured(environment);
		if (configured.isPresent()) {
			return ConditionOutcome.noMatch(message.because(configured.get() + " is set"));
		}
		return ConditionOutcome.match(message.because("nothing under spring.data.redis is set"));
	}

	private static Optional<ConfigurationPropertyName> configured(Environment environment) {
		if (!(environment instanceof ConfigurableEnvironment configurable)) {
			return Optional.empty();
		}
		for (ConfigurationPropertySource source : ConfigurationPropertySources
			.from(configurable.getPropertySources())) {
			if (source instanceof IterableConfigurationPropertySource iterable) {
				try (Stream<ConfigurationPropertyName> names = iterable.stream()) {
					Optional<ConfigurationPropertyName> name = names.filter(PREFIX::isAncestorOf)
						.filter((candidate) -> !isDefaultOfService(source, candidate))
						.findFirst();
					if (name.isPresent()) {
						return name;
					}
				}
			}
		}
		return Optional.empty();
	}

	private static boolean isDefaultOfService(ConfigurationPropertySource source, ConfigurationPropertyName name) {
		String setting = name.getElement(PREFIX.getNumberOfElements(), ConfigurationPropertyName.Form.UNIFORM);
		return !SELECTING.contains(setting) && isOnClassPath(Origin.from(source.getConfigurationProperty(name)));
	}

	private static boolean isOnClassPath(@Nullable Origin origin) {
		if (origin instanceof PropertySourceOrigin wrapped) {
			return isOnClassPath(wrapped.getOrigin());
		}
		return origin instanceof TextResourceOrigin text && isOnClassPath(text.getResource());
	}

	private static boolean isOnClassPath(@Nullable Resource resource) {
		if (resource instanceof OriginTrackedResource wrapped) {
			return isOnClassPath(wrapped.getResource());
		}
		return resource instanceof ClassPathResource;
	}

}
