package io.pipeset.engine.scan;

import java.util.function.BooleanSupplier;

import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import org.jspecify.annotations.Nullable;

/**
 * Makes single calls for a walk, again and again while Redis does not answer. A job says
 * for how long. One thread at a time does so.
 */
public interface RetryPolicy {

	/** Whether nobody waits for an answer any longer. */
	boolean isOver();

	/** A call was answered: the trouble is over. */
	void answered();

	/**
	 * Pauses before the next attempt, or stops the job, so that there is none.
	 * @param command the name of the command that failed, for messages
	 */
	void pauseAfter(String command, RedisCallException failure);

	/**
	 * Makes a call until it is answered.
	 * @param command the name of its command, for messages
	 * @param isNeedless whether an answer is no longer needed, asked where there was none
	 * @return the answer; {@code null} if the walk is over, or the answer is not needed
	 */
	default <T> @Nullable T ask(String command, Call<T> call, BooleanSupplier isNeedless) {
		while (!isOver()) {
			try {
				T answer = call.make();
				answered();
				return answer;
			}
			catch (RedisCallException ex) {
				if (isNeedless.getAsBoolean()) {
					return null;
				}
				pauseAfter(command, ex);
			}
			catch (NoConnectionException ex) {
				pauseAfter(command, RedisCallException.unreachable(ex));
			}
		}
		return null;
	}

	/** A call that may be made again. */
	@FunctionalInterface
	interface Call<T> {

		T make() throws NoConnectionException;

	}

}
