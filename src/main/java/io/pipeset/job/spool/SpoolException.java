package io.pipeset.job.spool;

import java.io.IOException;

/** The spool is full, or its disk fails. */
public final class SpoolException extends IOException {

	/**
	 * A failure.
	 * @param message the event and its remedy, without paths
	 */
	SpoolException(String message) {
		super(message);
	}

	/**
	 * A failure of the disk.
	 * @param message the event and its remedy, without paths
	 * @param cause the failure, which the log is to have
	 */
	SpoolException(String message, IOException cause) {
		super(message, cause);
	}

}
