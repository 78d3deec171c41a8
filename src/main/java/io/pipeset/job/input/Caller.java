package io.pipeset.job.input;

import java.time.Duration;

/** The caller of a job, at the other end of a connection. */
public interface Caller {

	/** The service itself, which sends nothing. */
	Caller NOBODY = (idle) -> {
	};

	/**
	 * Ends the input of the connection if its reader waits and nothing has come for some
	 * time. The reader then goes on as if the caller had gone away, but can still answer
	 * it.
	 * @param idle for how long nothing has to have come
	 */
	void endInputIfPaused(Duration idle);

}
