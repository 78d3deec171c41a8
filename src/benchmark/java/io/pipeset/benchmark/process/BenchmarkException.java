package io.pipeset.benchmark.process;

/** Ends the whole run, as a figure of a failed run is worth nothing. */
public class BenchmarkException extends RuntimeException {

	public BenchmarkException(String message) {
		super(message);
	}

	public BenchmarkException(String message, Throwable cause) {
		super(message, cause);
	}

}
