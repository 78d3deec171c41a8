package io.pipeset.engine.pipeline;

import java.util.concurrent.locks.LockSupport;

/** Tells threads that wait for a job that the job stops, and wakes them. */
public interface StopSignal {

	/** A signal that is never set. */
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
	 * Whether the signal is set.
	 * @return {@code true} from then on; it is never reset
	 */
	boolean isSet();

	/**
	 * Adds an action that runs when the signal is set, in the thread that sets it. If the
	 * signal is already set, the action runs at once. It may run twice.
	 * @param wake wakes a waiting thread, and must not block
	 */
	void add(Runnable wake);

	/**
	 * Removes an action.
	 * @param wake the same object that was added
	 */
	void remove(Runnable wake);

	/**
	 * Waits.
	 * @return {@code true} as soon as the signal is set or the thread is interrupted
	 */
	boolean await(long nanos);

}
