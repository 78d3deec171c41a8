package io.pipeset;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/**
 * Starts Pipeset.
 */
@SpringBootApplication
public class PipesetApplication {

	public static void main(String[] args) {
		SpringApplication.run(PipesetApplication.class, args);
	}

}
