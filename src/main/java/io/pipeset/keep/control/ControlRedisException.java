package io.pipeset.keep.control;

import org.jspecify.annotations.Nullable;

/** The control Redis could not be reached, or refused a command. */
public final class ControlRedisException extends RuntimeException {

	ControlRedisException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

	/** The message, which callers may read: it has no credentials and no keys. */
	@Override
	public String getMessage() {
		return String.valueOf(super.getMessage());
	}

}
