package io.pipeset.keep;

import java.io.IOException;

/** The spool is full, or its disk fails. */
public final class SpoolException extends IOException {

	/**
	 * A failure, for callers.
	 * @param message what has failed and what to do, without paths
	 */
	SpoolException(String message) {
		super(message);
	}

	/**
	 * A failure of the disk.
	 * @param message what has failed and what to do, without paths
	 * @param cause the failure
	 */
	SpoolException(String message, IOException cause) {
		super(message, cause);
	}

}
