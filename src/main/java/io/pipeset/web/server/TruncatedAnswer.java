package io.pipeset.web.server;

import java.io.IOException;

import org.apache.coyote.CloseNowException;

/** A response that has begun and cannot be finished. */
public final class TruncatedAnswer {

	private TruncatedAnswer() {
	}

	/**
	 * Creates an exception that makes the web server close the connection, so that the
	 * response looks incomplete. The web server does not log it as an error.
	 * @param cause why the response cannot be finished
	 */
	public static IOException because(IOException cause) {
		return new CloseNowException("The answer cannot be finished", cause);
	}

}
