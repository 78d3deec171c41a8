package io.pipeset.memory;

import java.io.Serial;

/** The memory of the JVM is too small for the configured budget or number of jobs. */
final class UnfitMemoryException extends IllegalArgumentException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String remedy;

	/**
	 * An exception.
	 * @param message the property that does not fit, and its bounds
	 * @param remedy what to do so that the service starts
	 */
	UnfitMemoryException(String message, String remedy) {
		super(message);
		this.remedy = remedy;
	}

	/** What to do so that the service starts. */
	String remedy() {
		return this.remedy;
	}

}
