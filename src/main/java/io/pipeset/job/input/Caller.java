package io.pipeset.job.input;

import java.time.Duration;

import io.pipeset.report.Ending;
import io.pipeset.report.JobStatus;
import org.jspecify.annotations.Nullable;

/** The caller of a job, at the other end of a connection. */
public interface Caller {

	/** The reason for the end of a job whose caller is gone. */
	String GONE = "The caller has closed its side of the connection before the job had all of its records: keep it open"
			+ " until the answer is there";

	/** The service itself, which sends nothing and is always there. */
	Caller NOBODY = new Caller() {

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
	 * @return {@code false} for a caller that is answered as soon as its job is taken
	 */
	default boolean waits() {
		return true;
	}

	/**
	 * Whether the caller surely gets what its job takes out of Redis.
	 * @return {@code false} if the answer may be lost
	 */
	default boolean takesValues() {
		return waits();
	}

	/**
	 * The job is taken: it will end, and until then others can look at it by its id.
	 * @param job how it stands
	 */
	default void taken(JobStatus job) {
	}

	/**
	 * The job is about to write to Redis for the first time.
	 * @return the reason why it must not; {@code null} if it may
	 */
	default @Nullable Ending beforeFirstWrite() {
		return null;
	}

	/**
	 * Ends the input of the connection if its reader waits and nothing has come for some
	 * time. The reader then goes on as if the caller had gone away, but can still answer
	 * it.
	 */
	void endInputIfPaused(Duration idle);

	/**
	 * Looks once a second whether the caller is still there. A caller that has closed its
	 * side of the connection is gone: nobody can tell one that still reads from one that
	 * has ended.
	 * @param gone is run, once, when the caller is gone
	 * @return the watch, to be ended
	 */
	Watch watch(Runnable gone);

	/** Looks whether a caller is still there. */
	@FunctionalInterface
	interface Watch {

		/** Ends the watch: nothing is run from now on. */
		void end();

	}

}
