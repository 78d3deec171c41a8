package io.pipeset.engine.pipeline;

import java.util.concurrent.locks.LockSupport;

/**
 * Tells threads that wait on behalf of a job to stop waiting, and wakes them.
 */
public interface StopSignal {

	/** A signal that is never given. */
	StopSignal NEVER = new StopSignal() {

		@Override
		public boolean isSet() {
			return false;
		}

		@Override
		public void add(Runnable wake) {
		}

		@Override
		public void remove(Runnable wake) {
		}

		@Override
		public boolean await(long nanos) {
			LockSupport.parkNanos(nanos);
			return Thread.currentThread().isInterrupted();
		}

	};

	/**
	 * Whether the signal was given.
	 * @return {@code false} until then; never again after {@code true}
	 */
	boolean isSet();

	/**
	 * Has an action run when the signal is given, by the thread that gives it, or at once
	 * if it was given before. The action may run twice.
	 * @param wake wakes a thread that waits, and does not block
	 */
	void add(Runnable wake);

	/**
	 * Forgets an action.
	 * @param wake the action, the same object as was added
	 */
	void remove(Runnable wake);

	/**
	 * Pauses.
	 * @return {@code true} as soon as the signal is given or the thread interrupted
	 */
	boolean await(long nanos);

}
