package io.pipeset.pipeline.call;

/**
 * There was no connection to Redis, so nothing was written. Its message is a sentence
 * that names the address.
 */
public final class NoConnectionException extends Exception {

	/**
	 * There was no connection.
	 * @param address where to
	 * @param why the end of a sentence
	 */
	public NoConnectionException(String address, String why) {
		super("No connection to Redis at " + address + ": " + why);
	}

	/**
	 * There was no connection.
	 * @param address where to
	 * @param cause why
	 */
	public NoConnectionException(String address, Throwable cause) {
		super("No connection to Redis at " + address + ": "
				+ ((cause.getMessage() != null) ? cause.getMessage() : cause.getClass().getSimpleName()), cause);
	}

}
