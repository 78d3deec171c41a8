package io.pipeset.benchmark.rival;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;

/** Spring Data Redis and Lettuce by themselves on a cluster. */
@EnableAutoConfiguration
@Import(ClusterController.class)
public class ClusterApplication {

	/**
	 * Starts the application.
	 * @param args Spring's
	 */
	public static void main(String[] args) {
		SpringApplication.run(ClusterApplication.class, args);
	}

}
