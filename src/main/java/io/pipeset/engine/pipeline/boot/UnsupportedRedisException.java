package io.pipeset.engine.pipeline.boot;

/**
 * A setting of Boot's names a Redis, or a way to use it, that the service would not use
 * as its caller expects. It does not start.
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
