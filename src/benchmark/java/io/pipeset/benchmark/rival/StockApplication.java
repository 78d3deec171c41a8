package io.pipeset.benchmark.rival;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;

/** Spring Data Redis with a pool, run without a span for each command. */
@EnableAutoConfiguration
@Import(StockController.class)
public class StockApplication {

	/**
	 * Starts the application.
	 * @param args Spring's
	 */
	public static void main(String[] args) {
		SpringApplication.run(StockApplication.class, args);
	}

}
