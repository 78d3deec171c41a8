package io.pipeset.benchmark.rival;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;

/** A job of Spring Batch that is called over HTTP, so that its JVM is warm. */
@EnableAutoConfiguration
@Import(BatchController.class)
public class BatchApplication {

	/** The property that has the JDBC URL of the rows. */
	public static final String URL = "RIVAL_URL";

	/** The property that has the query for the rows. */
	public static final String SQL = "RIVAL_SQL";

	/**
	 * Starts the application.
	 * @param args Spring's
	 */
	public static void main(String[] args) {
		SpringApplication.run(BatchApplication.class, args);
	}

}
