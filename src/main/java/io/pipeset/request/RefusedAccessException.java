package io.pipeset.request;

import java.io.Serial;

/** The service cannot start with these security properties. */
public final class RefusedAccessException extends IllegalStateException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String remedy;

	/**
	 * Creates an exception.
	 * @param problem the properties that are wrong, without a value that may be a key
	 * @param remedy the properties to set instead
	 */
	public RefusedAccessException(String problem, String remedy) {
		super(problem);
		this.remedy = remedy;
	}

	/** What the operator can do, for the message. */
	public String remedy() {
		return this.remedy;
	}

}
