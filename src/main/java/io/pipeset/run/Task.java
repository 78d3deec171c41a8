package io.pipeset.run;

import java.util.function.Supplier;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.keep.JobRun;
import io.pipeset.memory.MemoryShare;
import io.pipeset.report.Ending;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobState;
import io.pipeset.report.Progress.Tally;
import io.pipeset.request.RateLimit;
import org.jspecify.annotations.Nullable;

/** A job without a stream of records, such as an analysis, that waits or runs. */
public final class Task implements JobRun {

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

	/** Stops the task early. The task checks it after each wait. */
	@Override
	public JobStop stop() {
		return this.stop;
	}

	@Override
	public JobClock clock() {
		return this.clock;
	}

	/** The task's share of memory, which is closed after its answer is written. */
	@Override
	public MemoryShare memory() {
		return this.memory;
	}

	@Override
	public @Nullable RateLimit rateLimit() {
		return this.rateLimit;
	}

	/**
	 * Sets the source of the task's progress.
	 * @param tally any thread may call it at any time
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
	 * The reason for the task's end.
	 * @return the reason for its stop; {@link Ending#COMPLETED} if it is not stopped
	 */
	public Ending ending() {
		Ending stopped = this.stop.ending();
		return (stopped != null) ? stopped : Ending.COMPLETED;
	}

}
