package io.pipeset.tuning;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.job.Client;
import io.pipeset.job.EndedJob;
import io.pipeset.job.JobRefusedException;
import io.pipeset.job.JobRefusedException.Reason;
import io.pipeset.job.input.Caller;
import io.pipeset.job.run.JobOwner;
import io.pipeset.job.run.Jobs;
import io.pipeset.job.run.Tasks;
import io.pipeset.job.settings.JobDefaults;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobMeters;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.stereotype.Component;

/** Runs tunings, one at a time in this instance of the service. */
@Component
@EnableConfigurationProperties(TuningProperties.class)
public class Tunings {

	private final Tasks tasks;

	private final Jobs jobs;

	private final RedisNodes nodes;

	private final JobDefaults defaults;

	private final LongSupplier clock;

	/**
	 * The meters of the runs, which are no jobs of callers; like those of callers' jobs,
	 * so that the same code is measured.
	 */
	private final JobMeters meters = new JobMeters(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));

	private final AtomicBoolean busy = new AtomicBoolean();

	@Autowired
	Tunings(Tasks tasks, Jobs jobs, RedisNodes nodes, JobDefaults defaults) {
		this(tasks, jobs, nodes, defaults, System::nanoTime);
	}

	/**
	 * Runs tunings by another clock.
	 * @param defaults has the timeout of their runs, and the settings that rows are
	 * compared with
	 * @param clock nanoseconds, by which budgets are counted
	 */
	public Tunings(Tasks tasks, Jobs jobs, RedisNodes nodes, JobDefaults defaults, LongSupplier clock) {
		this.tasks = tasks;
		this.jobs = jobs;
		this.nodes = nodes;
		this.defaults = defaults;
		this.clock = clock;
	}

	/**
	 * Runs a tuning in the calling thread, to its end, in one place of the queue of jobs.
	 * @param client the client whose tuning it is
	 * @param caller the caller whose thread this is
	 * @throws JobRefusedException if another one runs or waits, or if it may not begin
	 */
	public EndedJob<?> run(Client client, TuningSettings settings, Caller caller) {
		if (!this.busy.compareAndSet(false, true)) {
			throw new JobRefusedException(Reason.TOO_MANY,
					"Another tuning runs, and two would measure each other: send this one again when it has ended");
		}
		try {
			return this.tasks.run(client, JobKind.TUNING, null, caller,
					(task) -> new TuningExecution(task, settings, this.jobs,
							new JobOwner(this.meters, Client.SERVICE, task), this.nodes, this.defaults, this.clock)
						.run());
		}
		finally {
			this.busy.set(false);
		}
	}

}
