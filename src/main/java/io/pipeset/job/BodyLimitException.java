package io.pipeset.job;

import java.io.IOException;

/** The body is larger than a limit. */
public final class BodyLimitException extends IOException {

	/**
	 * Says which.
	 * @param message the limit, what was met and the property to change
	 */
	public BodyLimitException(String message) {
		super(message);
	}

}
