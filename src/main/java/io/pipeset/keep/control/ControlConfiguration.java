package io.pipeset.keep.control;

import java.time.Duration;
import java.util.stream.Stream;

import io.pipeset.engine.pipeline.boot.RedisSettings;
import io.pipeset.report.RedisIdentity;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Standalone;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Configures the control Redis from {@code pipeset.control.*}. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(RecordProperties.class)
class ControlConfiguration {

	static final String PREFIX = "pipeset.control";

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	@Bean
	static RedisSettings controlSettings(Environment environment) {
		return new RedisSettings(environment, PREFIX);
	}

	/**
	 * The settings of the control Redis. If they name no server, the settings of the data
	 * Redis apply, or the address of one that was started for the service. Timeouts are
	 * always one second; a client name and a pool are never set.
	 */
	@Bean(defaultCandidate = false)
	@ConfigurationProperties(PREFIX)
	static DataRedisProperties controlProperties(Environment environment,
			ObjectProvider<DataRedisConnectionDetails> data) {
		DataRedisProperties properties = new DataRedisProperties();
		if (!namesServer(environment)) {
			properties = Binder.get(environment).bindOrCreate("spring.data.redis", DataRedisProperties.class);
			DataRedisConnectionDetails details = data.getIfAvailable();
			Standalone server = (details != null && properties.getUrl() == null) ? details.getStandalone() : null;
			if (details != null && server != null) {
				properties.setHost(server.getHost());
				properties.setPort(server.getPort());
				properties.setUsername(details.getUsername());
				properties.setPassword(details.getPassword());
			}
		}
		properties.setTimeout(TIMEOUT);
		properties.setConnectTimeout(TIMEOUT);
		properties.setClientName(null);
		properties.getLettuce().getPool().setEnabled(false);
		return properties;
	}

	@Bean
	ControlRedis controlRedis(Environment environment, @Qualifier("controlProperties") DataRedisProperties properties,
			SslBundles bundles, RedisIdentity data) {
		return new ControlRedis(properties, bundles, namesServer(environment), data);
	}

	private static boolean namesServer(Environment environment) {
		Binder binder = Binder.get(environment);
		return Stream.of("url", "host", "port", "cluster.nodes", "sentinel.nodes")
			.anyMatch((name) -> binder.bind(PREFIX + '.' + name, Bindable.of(String.class)).isBound()
					|| binder.bind(PREFIX + '.' + name, Bindable.listOf(String.class)).isBound());
	}

}
