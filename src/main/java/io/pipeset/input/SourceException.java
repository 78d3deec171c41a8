package io.pipeset.input;

import java.io.IOException;

import org.jspecify.annotations.Nullable;

/**
 * A source of records has failed, and trying again at once does not help. The message is
 * for the caller, and has no credentials.
 */
public final class SourceException extends IOException {

	/**
	 * Creates the failure.
	 * @param message what happened, as a sentence without a full stop
	 * @param cause the failure, for the log at debug level alone, as it may have
	 * credentials; {@code null} for none
	 */
	public SourceException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
