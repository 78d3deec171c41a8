package io.pipeset.benchmark.process;

/** Ends the run: a figure of something that went wrong is worth nothing. */
public class BenchmarkException extends RuntimeException {

	public BenchmarkException(String message) {
		super(message);
	}

	public BenchmarkException(String message, Throwable cause) {
		super(message, cause);
	}

}
