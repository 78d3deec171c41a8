package io.pipeset.web.server;

import java.io.IOException;

import org.apache.coyote.CloseNowException;

/** An answer that has begun and cannot be finished. */
public final class TruncatedAnswer {

	private TruncatedAnswer() {
	}

	/**
	 * An exception by which the web server closes the connection, so that the answer does
	 * not look whole, and writes no error of its own into the log.
	 * @param cause why the answer cannot be finished
	 */
	public static IOException because(IOException cause) {
		return new CloseNowException("The answer cannot be finished", cause);
	}

}
