package io.pipeset.job;

import java.io.Serial;

/** The memory of the JVM and what is to be done with it do not fit. */
final class UnfitMemoryException extends IllegalArgumentException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String remedy;

	/**
	 * An exception.
	 * @param message which property does not fit what
	 * @param remedy what to do instead
	 */
	UnfitMemoryException(String message, String remedy) {
		super(message);
		this.remedy = remedy;
	}

	/** What to do instead. */
	String remedy() {
		return this.remedy;
	}

}
