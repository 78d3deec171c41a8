package io.pipeset.pipeline;

/** There was no connection to Redis to be had, so nothing was written. */
public final class NoConnectionException extends Exception {

	NoConnectionException(String message) {
		super(message);
	}

	NoConnectionException(Throwable cause) {
		super((cause.getMessage() != null) ? cause.getMessage() : cause.getClass().getSimpleName(), cause);
	}

}
