package io.pipeset.record;

/**
 * Why the service refuses a record without sending it.
 *
 * @param code the error's code, one of this type's constants
 * @param message what was wrong and what is allowed, for the caller to read
 */
public record Rejection(String code, String message) {

	/** The record is not what its format or its operation's row asks for. */
	public static final String MALFORMED = "MALFORMED";

	/** The table of operations has no such row. */
	public static final String UNKNOWN_OPERATION = "UNKNOWN_OPERATION";

	/** The record does what its caller may not. */
	public static final String FORBIDDEN = "FORBIDDEN";

	/** The record is larger than a limit. */
	public static final String TOO_LARGE = "TOO_LARGE";

}
