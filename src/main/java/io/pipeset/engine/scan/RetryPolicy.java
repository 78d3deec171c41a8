package io.pipeset.engine.scan;

import java.util.function.BooleanSupplier;

import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import org.jspecify.annotations.Nullable;

/**
 * Repeats single calls of a key scan until Redis answers. The job limits how long. Only
 * one thread at a time uses it.
 */
public interface RetryPolicy {

	/** Whether calls are no longer repeated. */
	boolean isOver();

	/** Marks that a call was answered, so the failure has ended. */
	void answered();

	/**
	 * Waits before the next attempt, or stops the job so that there is none.
	 * @param command the name of the failed command, for messages
	 */
	void backOffAfter(String command, RedisCallException failure);

	/**
	 * Repeats a call until it is answered.
	 * @param command the name of the command, for messages
	 * @param isNeedless whether no answer is needed any more; checked after a failure
	 * @return the answer; {@code null} if the policy is over, or no answer is needed
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
				backOffAfter(command, ex);
			}
			catch (NoConnectionException ex) {
				backOffAfter(command, RedisCallException.unreachable(ex));
			}
		}
		return null;
	}

	/** A call that can be repeated. */
	@FunctionalInterface
	interface Call<T> {

		T make() throws NoConnectionException;

	}

}
