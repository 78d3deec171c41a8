package io.pipeset.slab;

/**
 * Why commands were not answered.
 *
 * @param code the error's code, one of this type's constants
 * @param message what happened, for the caller to read
 */
public record Loss(String code, String message) {

	/** The connection broke. */
	public static final String CONNECTION_LOST = "CONNECTION_LOST";

	/** Redis was silent for too long. */
	public static final String TIMEOUT = "TIMEOUT";

	/** The command was never written. */
	public static final String NOT_SENT = "NOT_SENT";

	static final Loss UNEXPLAINED = new Loss(CONNECTION_LOST, "The connection to Redis was lost");

}
