package io.pipeset.control;

/** The control Redis was not reached, or refused a command. */
public final class ControlRedisException extends RuntimeException {

	ControlRedisException(String message, Throwable cause) {
		super(message, cause);
	}

	/** The event, for callers to read: it has no credentials and no keys. */
	@Override
	public String getMessage() {
		return String.valueOf(super.getMessage());
	}

}
