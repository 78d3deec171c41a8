package io.pipeset.job.input;

import java.time.Duration;

/**
 * Ends an upload from outside, for when the thread that waits for more of it is needed.
 */
@FunctionalInterface
public interface EndOfInput {

	/**
	 * Ends the input if its reader waits and nothing has come for some time. The reader
	 * then goes on as if the caller had gone away, but can still answer it.
	 * @param idle for how long nothing has to have come
	 */
	void ifPaused(Duration idle);

}
