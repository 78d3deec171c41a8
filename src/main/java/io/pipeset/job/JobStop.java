package io.pipeset.job;

import java.util.concurrent.atomic.AtomicReference;

import io.pipeset.pipeline.Loss;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * Whether a job is to write nothing more, and why; known to all of its threads. The first
 * reason stays.
 */
final class JobStop {

	private static final Loss UNEXPLAINED = new Loss(Loss.CONNECTION_LOST, "The connection to Redis was lost");

	private final AtomicReference<@Nullable Reason> reason = new AtomicReference<>();

	/**
	 * Stops the job.
	 * @param cause the kind of end
	 * @param loss what happened, for the records that were not answered
	 */
	void because(Cause cause, Loss loss) {
		this.reason.compareAndSet(null, new Reason(new Ending(cause, loss.message()), loss));
	}

	boolean isSet() {
		return this.reason.get() != null;
	}

	@Nullable Ending ending() {
		Reason first = this.reason.get();
		return (first != null) ? first.ending() : null;
	}

	Loss loss() {
		Reason first = this.reason.get();
		return (first != null) ? first.loss() : UNEXPLAINED;
	}

	/** A reason, in the words of the job and in those of its unanswered records. */
	private record Reason(Ending ending, Loss loss) {

	}

}
