package io.pipeset.start;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;

/** Has the properties looked at before anything else. */
@Configuration(proxyBeanMethods = false)
class StartConfiguration {

	@Bean
	static UnknownProperties unknownProperties(ConfigurableEnvironment environment) {
		return new UnknownProperties(environment);
	}

}
