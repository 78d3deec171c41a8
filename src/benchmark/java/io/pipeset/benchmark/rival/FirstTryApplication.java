package io.pipeset.benchmark.rival;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;

/** The first try, with all of Boot's defaults: no pool, Actuator on the class path. */
@EnableAutoConfiguration
@Import(FirstTryController.class)
public class FirstTryApplication {

	/** Keeps the rivals out of applications that scan this package by chance. */
	public static final String PROFILE = "rival";

	/**
	 * Starts the application.
	 * @param args Spring's
	 */
	public static void main(String[] args) {
		SpringApplication.run(FirstTryApplication.class, args);
	}

}
