package io.pipeset.record;

/**
 * The reason why the service refuses a record without sending it.
 *
 * @param code the error's code, one of this type's constants
 * @param message the problem, and what is allowed, for the caller to read
 */
public record Rejection(String code, String message) {

	/** The record does not fit its format or its operation's row. */
	public static final String MALFORMED = "MALFORMED";

	/** The table of operations has no such row. */
	public static final String UNKNOWN_OPERATION = "UNKNOWN_OPERATION";

	/** The record is of another database than the one that is written to. */
	public static final String WRONG_DATABASE = "WRONG_DATABASE";

	/** The record does something that its caller may not do. */
	public static final String FORBIDDEN = "FORBIDDEN";

	/** The record is larger than a limit. */
	public static final String TOO_LARGE = "TOO_LARGE";

}
