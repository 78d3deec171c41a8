package io.pipeset.engine.slab;

import org.jspecify.annotations.Nullable;

/**
 * Why commands were not answered, or not confirmed by replicas.
 *
 * @param code the error code, one of the constants of this type
 * @param message the reason, for the caller
 */
public record Loss(String code, String message) {

	/** The connection was lost. */
	public static final String CONNECTION_LOST = "CONNECTION_LOST";

	/** Redis did not answer in time. */
	public static final String TIMEOUT = "TIMEOUT";

	/** The command was never written. */
	public static final String NOT_SENT = "NOT_SENT";

	/** Redis ran the command, but too few replicas have confirmed it. */
	public static final String UNCONFIRMED = "UNCONFIRMED";

	/** The command ran, and Redis has lost what it wrote since. */
	public static final String DATA_LOST = "DATA_LOST";

	/** The server has become a replica. It refused the command, which did not run. */
	public static final String DEMOTED = "READONLY";

	/**
	 * The service, and with it its connections, ended. Job journals store and compare the
	 * message, so it must not change.
	 */
	public static final Loss OF_SERVICE = new Loss(CONNECTION_LOST,
			"The service ended before it had read Redis's answer, and the record may have run");

	static final Loss UNEXPLAINED = new Loss(CONNECTION_LOST, "The connection to Redis was lost");

	static boolean isUnconfirmed(@Nullable Loss loss) {
		return loss != null && loss.code().equals(UNCONFIRMED);
	}

}
