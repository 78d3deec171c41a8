package io.pipeset.job.memory;

import java.io.Serial;

/** The memory of the JVM does not suffice for the configured budget or number of jobs. */
final class UnfitMemoryException extends IllegalArgumentException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String remedy;

	/**
	 * An exception.
	 * @param message the property that does not fit, and the bounds that it has
	 * @param remedy the way to start all the same
	 */
	UnfitMemoryException(String message, String remedy) {
		super(message);
		this.remedy = remedy;
	}

	/** The way to start all the same. */
	String remedy() {
		return this.remedy;
	}

}
