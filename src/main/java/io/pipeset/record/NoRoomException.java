package io.pipeset.record;

/** There is no memory for a record, and there will be none. */
public final class NoRoomException extends RuntimeException {

	/**
	 * There is no memory.
	 * @param message how much it takes and which property allows how much, for the caller
	 * to read
	 */
	public NoRoomException(String message) {
		super(message, null, false, false);
	}

}
