package io.pipeset.record.memory;

/** Says that there is no memory for a record, and that there will be none. */
public final class MemoryLimitException extends RuntimeException {

	/**
	 * Says that there is no memory.
	 * @param message the memory that the record takes and the property that limits it,
	 * for the caller to read
	 */
	public MemoryLimitException(String message) {
		super(message, null, false, false);
	}

}
