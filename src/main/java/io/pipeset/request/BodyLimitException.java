package io.pipeset.request;

import java.io.IOException;

/** The body is larger than a limit. */
public final class BodyLimitException extends IOException {

	/**
	 * Creates the exception.
	 * @param message has the limit, the size of the body and the property to change
	 */
	public BodyLimitException(String message) {
		super(message);
	}

}
