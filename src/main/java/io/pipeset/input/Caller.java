package io.pipeset.input;

import java.time.Duration;

import io.pipeset.report.Ending;
import io.pipeset.report.JobStatus;
import org.jspecify.annotations.Nullable;

/** The caller of a job, at the other end of a connection. */
public interface Caller {

	/** The reason of a job that ends because its caller has disconnected. */
	String GONE = "The caller closed its side of the connection before the job had read all records: keep the connection open"
			+ " until the response arrives";

	/** The service itself as the caller: it sends no input and never disconnects. */
	Caller SERVICE = new Caller() {

		@Override
		public void endInputIfPaused(Duration idle) {
			// There is no input.
		}

		@Override
		public Watch watch(Runnable gone) {
			return () -> {
			};
		}

	};

	/**
	 * Whether the caller waits for the end of its job, on a thread of the web server.
	 * @return {@code false} for a caller that gets its response when its job is accepted
	 */
	default boolean waits() {
		return true;
	}

	/**
	 * Whether the caller certainly receives the values that its job pops.
	 * @return {@code false} if the response may be lost
	 */
	default boolean isPop() {
		return waits();
	}

	/**
	 * Called when the job is accepted. From now on it can be queried by its id.
	 * @param job the status of the job
	 */
	default void taken(JobStatus job) {
	}

	/**
	 * Called before the job writes to Redis for the first time.
	 * @return the reason why it must not write; {@code null} if it may
	 */
	default @Nullable Ending beforeFirstWrite() {
		return null;
	}

	/**
	 * Ends the input of the connection if its reader waits and no byte has arrived for
	 * some time. The reader then continues as if the caller had disconnected, but the
	 * response can still be sent.
	 */
	void endInputIfPaused(Duration idle);

	/**
	 * Checks once a second whether the caller is still connected. A caller that has
	 * closed its side of the connection counts as disconnected, because the service
	 * cannot know whether it still reads.
	 * @param gone runs once when the caller has disconnected
	 * @return the watch, to be ended
	 */
	Watch watch(Runnable gone);

	/** A check whether a caller is still connected. */
	@FunctionalInterface
	interface Watch {

		/** Ends the watch: nothing runs from now on. */
		void end();

	}

}
