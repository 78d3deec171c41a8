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

/** Runs tunings. Only one at a time runs in this instance of the service. */
@Component
@EnableConfigurationProperties(TuningProperties.class)
public class Tunings {

	private final Tasks tasks;

	private final Jobs jobs;

	private final RedisNodes nodes;

	private final JobDefaults defaults;

	private final LongSupplier clock;

	/**
	 * The meters of the runs. They are separate because the runs are not jobs of callers,
	 * and of the same kind so that the same code is measured.
	 */
	private final JobMeters meters = new JobMeters(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));

	private final AtomicBoolean busy = new AtomicBoolean();

	@Autowired
	Tunings(Tasks tasks, Jobs jobs, RedisNodes nodes, JobDefaults defaults) {
		this(tasks, jobs, nodes, defaults, System::nanoTime);
	}

	/**
	 * Creates the service with another clock.
	 * @param defaults the timeout of the runs, and the settings that rows are compared
	 * with
	 * @param clock the clock of the budgets, in nanoseconds
	 */
	public Tunings(Tasks tasks, Jobs jobs, RedisNodes nodes, JobDefaults defaults, LongSupplier clock) {
		this.tasks = tasks;
		this.jobs = jobs;
		this.nodes = nodes;
		this.defaults = defaults;
		this.clock = clock;
	}

	/**
	 * Runs a tuning to its end in the calling thread. It has one position in the queue of
	 * jobs.
	 * @param client the client whose tuning it is
	 * @param caller the caller whose thread this is
	 * @throws JobRefusedException if another one runs or waits, or if it may not begin
	 */
	public EndedJob<?> run(Client client, TuningSettings settings, Caller caller) {
		if (!this.busy.compareAndSet(false, true)) {
			throw new JobRefusedException(Reason.TOO_MANY,
					"Another tuning runs, and two at once would distort each other's measurements: send this one again after it has ended");
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
