package io.pipeset.job.run;

import java.util.function.Supplier;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.job.JobId;
import io.pipeset.job.RateLimit;
import io.pipeset.job.directory.QueuedJob;
import io.pipeset.job.memory.MemoryShare;
import io.pipeset.report.Ending;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import io.pipeset.report.Progress.Tally;
import org.jspecify.annotations.Nullable;

/**
 * A job that is no stream of records, such as an analysis, from its admission to its end.
 */
public final class Task implements QueuedJob {

	private final String id = JobId.next();

	private final JobKind kind;

	private final @Nullable RateLimit rateLimit;

	private final JobStop stop;

	private final JobClock clock = new JobClock();

	private final MemoryShare memory;

	private volatile Supplier<Tally> tally = () -> Tally.of(0, null);

	public Task(JobKind kind, @Nullable RateLimit rateLimit, JobStop stop, MemoryShare memory) {
		this.kind = kind;
		this.rateLimit = rateLimit;
		this.stop = stop;
		this.memory = memory;
	}

	@Override
	public String id() {
		return this.id;
	}

	@Override
	public JobKind kind() {
		return this.kind;
	}

	@Override
	public String operation() {
		return this.kind.label();
	}

	/** Ends it early. The task looks at it whenever it has waited. */
	@Override
	public JobStop stop() {
		return this.stop;
	}

	@Override
	public JobClock clock() {
		return this.clock;
	}

	/** Its share of the service's memory, to be closed when its answer is written. */
	@Override
	public MemoryShare memory() {
		return this.memory;
	}

	@Override
	public @Nullable RateLimit rateLimit() {
		return this.rateLimit;
	}

	/**
	 * Says how the task can be asked for its progress, from now on.
	 * @param tally answers any thread at any time
	 */
	public void tallies(Supplier<Tally> tally) {
		this.tally = tally;
	}

	@Override
	public Tally tally() {
		return this.tally.get();
	}

	@Override
	public @Nullable JobReport snapshot(JobState state) {
		return null;
	}

	/**
	 * The reason for its end.
	 * @return the reason of its stop, or {@link Ending#COMPLETED} while it has none
	 */
	public Ending ending() {
		Ending stopped = this.stop.ending();
		return (stopped != null) ? stopped : Ending.COMPLETED;
	}

}
