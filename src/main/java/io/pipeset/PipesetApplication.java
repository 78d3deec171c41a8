package io.pipeset;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/**
 * Starts Pipeset.
 */
@SpringBootApplication
@ConfigurationPropertiesScan
public class PipesetApplication {

	public static void main(String[] args) {
		SpringApplication.run(PipesetApplication.class, args);
	}

}
