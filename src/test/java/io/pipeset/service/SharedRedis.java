package io.pipeset.service;

import java.util.Map;
import java.util.stream.Stream;

import io.pipeset.redis.TestRedis;

import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;

/** Names the shared Redis to the service, unless something else names another. */
class SharedRedis implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		if (Stream.of("host", "cluster.nodes")
			.noneMatch((name) -> context.getEnvironment().containsProperty("spring.data.redis." + name))) {
			context.getEnvironment()
				.getPropertySources()
				.addLast(new MapPropertySource("shared-redis", Map.copyOf(TestRedis.shared().properties())));
		}
	}

}
