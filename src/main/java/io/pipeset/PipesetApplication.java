package io.pipeset;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * Starts Pipeset.
 */
@SpringBootApplication
public class PipesetApplication {

	@Bean
	static UnknownProperties unknownProperties(ConfigurableEnvironment environment) {
		return new UnknownProperties(environment);
	}

	public static void main(String[] args) {
		SpringApplication.run(PipesetApplication.class, args);
	}

}
