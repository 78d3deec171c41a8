package io.pipeset.engine.pipeline.boot;

/**
 * The service does not start, because one of Boot's Redis settings is invalid or would
 * not have the effect that its user expects.
 */
final class UnsupportedRedisException extends RuntimeException {

	private final String remedy;

	UnsupportedRedisException(String problem, String remedy) {
		super(problem);
		this.remedy = remedy;
	}

	String remedy() {
		return this.remedy;
	}

}
