package io.pipeset.run;

import java.util.function.Function;

import io.micrometer.core.instrument.LongTaskTimer;
import io.pipeset.engine.lane.JobStop;
import io.pipeset.input.Caller;
import io.pipeset.input.Caller.Watch;
import io.pipeset.keep.EndedJob;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobMeters;
import io.pipeset.request.Client;
import io.pipeset.request.JobRefusedException;
import io.pipeset.request.RateLimit;
import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;

/**
 * Runs jobs without a stream of records. Like other jobs, each has a permit, memory, a
 * stop at shutdown, meters and a line in the log.
 */
@Component
public class Tasks {

	private final JobQueue queue;

	private final MemoryBudget memory;

	private final JobMeters meters;

	private final JobLog log;

	Tasks(JobQueue queue, MemoryBudget memory, JobMeters meters, JobLog log) {
		this.queue = queue;
		this.memory = memory;
		this.meters = meters;
		this.log = log;
	}

	/**
	 * Waits until a task may begin, then runs it to its end in the calling thread.
	 * @param client the client that owns the task
	 * @param kind the kind of task, a tag of meters
	 * @param rateLimit the rate limit; {@code null} if the task cannot have one
	 * @param caller the caller that runs this thread; if it is gone, the task is stopped
	 * @param body does the work. It returns soon after the task is stopped, which may be
	 * before it begins. If it throws, this method releases the task's memory
	 * @return the result of the body. The caller closes the task's memory after writing
	 * the answer
	 * @throws JobRefusedException if the task may not begin; the body was not called
	 */
	public <R> EndedJob<R> run(Client client, JobKind kind, @Nullable RateLimit rateLimit, Caller caller,
			Function<Task, EndedJob<R>> body) {
		JobStop stop = new JobStop();
		Task task = new Task(kind, rateLimit, stop, this.memory.open(stop));
		return this.queue.run(task, client, caller, () -> execute(task, client, caller, body));
	}

	private <R> EndedJob<R> execute(Task task, Client client, Caller caller, Function<Task, EndedJob<R>> body) {
		JobMeters meters = this.meters.of(client.name());
		LongTaskTimer.Sample active = meters.startJob(task.operation());
		Watch watch = caller.watch(() -> task.stop().stop(Cause.CANCELLED, Caller.GONE));
		try {
			return body.apply(task);
		}
		catch (RuntimeException | Error ex) {
			task.stop().becauseOfDefect(ex);
			throw ex;
		}
		finally {
			watch.end();
			active.stop();
			meters.taskEnds(task.operation(), task.ending().cause().state(), task.clock());
			this.log.taskEnded(task, client);
		}
	}

}
