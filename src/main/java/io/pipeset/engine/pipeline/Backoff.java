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
 * The backoff between attempts of a call to Redis that fails. The delay grows from 20 ms
 * to half a second, and the attempts end with a timeout. After {@link #end()} the delays
 * start short again. Not safe for use by several threads at once.
 */
public final class Backoff {

	private static final ExponentialBackOff DELAYS = delays();

	private final Duration timeout;

	private final StopSignal stop;

	/** The delays of the current attempts; {@code null} while no attempts are running. */
	private @Nullable BackOffExecution delays;

	private long deadline;

	/**
	 * Creates a backoff without running attempts.
	 * @param timeout the time for the attempts until {@link #end()}
	 * @param stop ends the attempts, and a delay at once
	 */
	public Backoff(Duration timeout, StopSignal stop) {
		this.timeout = timeout;
		this.stop = stop;
	}

	/** Starts the attempts and their timeout. */
	public void begin() {
		BackOffExecution unused = start();
	}

	private BackOffExecution start() {
		BackOffExecution delays = DELAYS.start();
		this.delays = delays;
		prolong();
		return delays;
	}

	/** Restarts the timeout, but not the growth of the delays. */
	public void prolong() {
		this.deadline = System.nanoTime() + this.timeout.toNanos();
	}

	/** Ends the attempts because Redis answers again. */
	public void end() {
		this.delays = null;
	}

	/** Whether attempts are running. */
	public boolean areUnderWay() {
		return this.delays != null;
	}

	/** Whether attempts are running, and their timeout is over. */
	public boolean isOver() {
		return areUnderWay() && System.nanoTime() - this.deadline > 0;
	}

	/**
	 * Waits before the next attempt, longer each time. Starts the attempts if they are
	 * not running.
	 * @return {@code false} if there must be no attempt: the timeout is over, the signal
	 * is set or the thread is interrupted
	 */
	public boolean next() {
		BackOffExecution known = this.delays;
		BackOffExecution delays = (known != null) ? known : start();
		long left = this.deadline - System.nanoTime();
		return left > 0 && !this.stop.await(Math.min(TimeUnit.MILLISECONDS.toNanos(delays.nextBackOff()), left));
	}

	/**
	 * Repeats a call until it succeeds or the timeout is over.
	 * @param isTransient whether the same call may succeed soon
	 * @throws RedisCallException if the call failed for another reason, or for too long
	 */
	public <T extends @Nullable Object> T ask(Supplier<T> call, Predicate<RedisCallException> isTransient) {
		begin();
		while (true) {
			try {
				T answer = call.get();
				end();
				return answer;
			}
			catch (RedisCallException ex) {
				if (!isTransient.test(ex) || !next()) {
					throw ex;
				}
			}
		}
	}

	private static ExponentialBackOff delays() {
		ExponentialBackOff delays = new ExponentialBackOff(20, 2);
		delays.setJitter(10);
		delays.setMaxInterval(500);
		return delays;
	}

}
