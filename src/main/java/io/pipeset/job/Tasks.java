package io.pipeset.job;

import java.util.function.Function;

import io.micrometer.core.instrument.LongTaskTimer;
import io.pipeset.job.input.Caller;
import io.pipeset.job.input.Caller.Watch;
import io.pipeset.lane.JobStop;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobMeters;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.stereotype.Component;

/**
 * Runs jobs that are no streams of records, with all that a job has: a place in the
 * queue, memory, a stop at shutdown, meters and a line in the log.
 */
@Component
public class Tasks {

	private static final Logger logger = LoggerFactory.getLogger(Tasks.class);

	private final JobQueue queue;

	private final MemoryBudget memory;

	private final JobMeters meters;

	Tasks(JobQueue queue, MemoryBudget memory, JobMeters meters) {
		this.queue = queue;
		this.memory = memory;
		this.meters = meters;
	}

	/**
	 * Runs a task in the calling thread, to its end, as soon as it may begin.
	 * @param operation its kind, one of a few words: a tag of meters
	 * @param caller the caller whose thread this is; the task ends when it is gone
	 * @param body does the work, and returns soon after the task's stop is set. If it
	 * throws an exception, its memory is given back here
	 * @param <T> the type of its result
	 * @return the result of the body. Its writer closes the task's memory afterwards
	 * @throws JobRefusedException if the task may not begin; the body was not called
	 */
	public <T> T run(String operation, Caller caller, Function<Task, T> body) {
		JobStop stop = new JobStop();
		Task task = new Task(JobId.next(), stop, new JobClock(), this.memory.open(stop));
		this.queue.enter(task);
		LongTaskTimer.Sample active = this.meters.jobBegins(operation);
		boolean ended = false;
		Watch watch = caller.watch(() -> stop.because(Cause.CANCELLED, Caller.GONE));
		try {
			T result = body.apply(task);
			task.memory().endLoad();
			ended = true;
			return result;
		}
		catch (RuntimeException | Error ex) {
			stop.because(Cause.INTERNAL_SERVER_ERROR, "By a defect of the service: " + ex);
			throw ex;
		}
		finally {
			watch.end();
			if (!ended) {
				task.memory().close();
			}
			active.stop();
			this.meters.taskEnds(operation, task.ending().cause().state(), task.clock());
			log(operation, task);
			this.queue.leave(task);
		}
	}

	private static void log(String operation, Task task) {
		Ending ending = task.ending();
		if (ending.cause() != Cause.COMPLETED) {
			logger.atWarn()
				.addKeyValue("jobId", task.id())
				.log("Job {} did not complete, {}: {}", task.id(), ending.cause().problemType(), ending.detail());
		}
		logger.atInfo()
			.addKeyValue("jobId", task.id())
			.log("Job {} {}: op={} totalMillis={}", task.id(), ending.cause().state().label(), operation,
					task.clock().timings().totalMillis());
	}

}
