package io.pipeset.job.input;

import java.io.IOException;

/** The body is larger than a limit. */
public final class BodyLimitException extends IOException {

	/**
	 * Creates the exception.
	 * @param message says the limit, the size that was met and the property to change
	 */
	public BodyLimitException(String message) {
		super(message);
	}

}
