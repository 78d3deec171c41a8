package io.pipeset.engine.pipeline;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.pipeset.engine.pipeline.call.RedisCallException;
import org.jspecify.annotations.Nullable;

import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * The pauses between attempts to get over a trouble with Redis. They grow, from 20 ms to
 * half a second, and end with a timeout; the next trouble begins with short ones again.
 * One thread at a time has them.
 */
public final class Backoff {

	private static final ExponentialBackOff PAUSES = pauses();

	private final Duration timeout;

	private final StopSignal stop;

	/** The pauses of this trouble; {@code null} while there is none. */
	private @Nullable BackOffExecution pauses;

	private long deadline;

	/**
	 * No trouble yet.
	 * @param timeout the time for attempts to get over one trouble
	 * @param stop ends them, and a pause at once
	 */
	public Backoff(Duration timeout, StopSignal stop) {
		this.timeout = timeout;
		this.stop = stop;
	}

	/** A trouble begins, and the time for attempts with it. */
	public void begin() {
		BackOffExecution unused = start();
	}

	private BackOffExecution start() {
		BackOffExecution pauses = PAUSES.start();
		this.pauses = pauses;
		prolong();
		return pauses;
	}

	/** The time for attempts begins anew, but the pauses are no shorter. */
	public void prolong() {
		this.deadline = System.nanoTime() + this.timeout.toNanos();
	}

	/** The trouble is over. */
	public void end() {
		this.pauses = null;
	}

	/** Whether a trouble has begun that is not over. */
	public boolean areUnderWay() {
		return this.pauses != null;
	}

	/**
	 * Pauses before the next attempt, for longer each time. A trouble that has not begun
	 * begins.
	 * @return {@code false} if there is to be none: the time is over, the signal is given
	 * or the thread interrupted
	 */
	public boolean next() {
		BackOffExecution known = this.pauses;
		BackOffExecution pauses = (known != null) ? known : start();
		long left = this.deadline - System.nanoTime();
		return left > 0 && !this.stop.await(Math.min(TimeUnit.MILLISECONDS.toNanos(pauses.nextBackOff()), left));
	}

	/**
	 * Makes a call until it is answered, for the whole timeout.
	 * @param passes whether the same call may well be answered in a moment
	 * @throws RedisCallException if it failed for another reason, or for too long
	 */
	public <T extends @Nullable Object> T ask(Supplier<T> call, Predicate<RedisCallException> passes) {
		begin();
		while (true) {
			try {
				T answer = call.get();
				end();
				return answer;
			}
			catch (RedisCallException ex) {
				if (!passes.test(ex) || !next()) {
					throw ex;
				}
			}
		}
	}

	private static ExponentialBackOff pauses() {
		ExponentialBackOff pauses = new ExponentialBackOff(20, 2);
		pauses.setJitter(10);
		pauses.setMaxInterval(500);
		return pauses;
	}

}
