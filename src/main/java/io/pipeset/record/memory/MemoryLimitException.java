package io.pipeset.record.memory;

/**
 * Thrown if a record needs memory that will never be free, or that the caller no longer
 * waits for.
 */
public final class MemoryLimitException extends RuntimeException {

	/**
	 * Creates the exception.
	 * @param message the memory that the record needs, and the property that limits it,
	 * for the caller to read
	 */
	public MemoryLimitException(String message) {
		super(message, null, false, false);
	}

}
