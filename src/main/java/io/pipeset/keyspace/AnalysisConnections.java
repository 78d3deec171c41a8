package io.pipeset.keyspace;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import io.pipeset.job.Task;
import io.pipeset.lane.JobStop;
import io.pipeset.pipeline.Pipeline;
import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.pipeline.flush.FlushPolicy;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending.Cause;

/** The connections of an analysis to one server, one at a time. */
final class AnalysisConnections {

	private final Task task;

	private final RedisNode node;

	private final Duration timeout;

	/** The longest that closing a connection may take. */
	private final Duration closing;

	private final JobStop stop;

	AnalysisConnections(Task task, RedisNode node, Duration timeout, Duration closing) {
		this.task = task;
		this.node = node;
		this.timeout = timeout;
		this.closing = closing;
		this.stop = task.stop();
	}

	/** A conversation on a connection that was lent. */
	Conversation conversation(Pipeline pipeline) {
		return new Conversation(pipeline, this.timeout, this.closing, this.stop);
	}

	/**
	 * Has a connection used, and does what is left to do when it is given back.
	 * @param use uses it, and returns what is left to do
	 * @param unreachable tells what is left to do if there is no connection
	 */
	void use(Function<Pipeline, Runnable> use, Function<NoConnectionException, Runnable> unreachable) {
		AtomicReference<Runnable> then = new AtomicReference<>(AnalysisConnections::doNothing);
		long asked = System.nanoTime();
		if (acquire()) {
			try {
				this.node.run(FlushPolicy.close(), this.timeout, this.stop, (pipeline) -> {
					this.task.clock().waited(System.nanoTime() - asked);
					then.set(use.apply(pipeline));
				});
			}
			catch (NoConnectionException ex) {
				this.task.clock().waited(System.nanoTime() - asked);
				then.set(unreachable.apply(ex));
			}
		}
		Objects.requireNonNull(then.get()).run();
	}

	private boolean acquire() {
		boolean acquired = false;
		try {
			acquired = this.node.permits().acquire(this.timeout.toNanos(), this.stop);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (!acquired && !this.stop.isSet()) {
			this.stop.because(Cause.REDIS_UNREACHABLE,
					"None of the " + this.node.permits().count() + " connections became free within the timeout of "
							+ DurationText.of(this.timeout)
							+ ": send the analysis again later, or raise pipeset.pipeline.max-connections");
		}
		return acquired;
	}

	static void doNothing() {
	}

}
