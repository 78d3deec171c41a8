package io.pipeset.pipeline;

/**
 * Tells those who wait on behalf of a job that there is nothing to wait for any more, and
 * wakes them.
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

	};

	/**
	 * Whether it was given.
	 * @return {@code false} until then; never again after {@code true}
	 */
	boolean isSet();

	/**
	 * Has an action run when the signal is given, by the thread that gives it; at once
	 * where it was given before. It may run twice.
	 * @param wake wakes a thread that waits, and does not block
	 */
	void add(Runnable wake);

	/**
	 * Forgets an action.
	 * @param wake the action, the same object as was added
	 */
	void remove(Runnable wake);

}
