package io.pipeset.record;

/**
 * The reason why the service refuses a record, which is then not sent.
 *
 * @param code the error's code, one of this type's constants
 * @param message the problem, and the allowed values, for the caller to read
 */
public record Rejection(String code, String message) {

	/**
	 * The record does not follow its format, or the arguments do not fit its operation.
	 */
	public static final String MALFORMED = "MALFORMED";

	/** The operation is not supported. */
	public static final String UNKNOWN_OPERATION = "UNKNOWN_OPERATION";

	/** The record belongs to another database than the one that is written to. */
	public static final String WRONG_DATABASE = "WRONG_DATABASE";

	/** The caller has no right to run the record. */
	public static final String FORBIDDEN = "FORBIDDEN";

	/** The record is larger than a limit. */
	public static final String TOO_LARGE = "TOO_LARGE";

}
