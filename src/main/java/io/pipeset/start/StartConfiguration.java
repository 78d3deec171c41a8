package io.pipeset.start;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;

/** Checks the names of all properties before other beans are created. */
@Configuration(proxyBeanMethods = false)
class StartConfiguration {

	@Bean
	static UnknownProperties unknownProperties(ConfigurableEnvironment environment) {
		return new UnknownProperties(environment);
	}

}
