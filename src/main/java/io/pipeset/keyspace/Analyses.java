package io.pipeset.keyspace;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.input.Caller;
import io.pipeset.keep.EndedJob;
import io.pipeset.report.JobKind;
import io.pipeset.request.Client;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobRefusedException;
import io.pipeset.request.RateLimit;
import io.pipeset.run.Tasks;
import jakarta.annotation.PreDestroy;

import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

/**
 * Runs analyses of the keyspace. An analysis is a job and counts toward the same limits.
 */
@Component
public class Analyses {

	private final Tasks tasks;

	private final RedisNodes nodes;

	private final JobLimits limits;

	private final ExecutorService threads;

	Analyses(Tasks tasks, RedisNodes nodes, JobLimits limits) {
		this.tasks = tasks;
		this.nodes = nodes;
		this.limits = limits;
		CustomizableThreadFactory names = new CustomizableThreadFactory("analysis-");
		names.setDaemon(true);
		this.threads = Executors.newCachedThreadPool(names);
	}

	/**
	 * Waits until the analysis may begin, and runs it to its end. It uses the calling
	 * thread, and more threads if a cluster has several masters.
	 * @param client the client whose analysis it is
	 * @param caller the caller whose thread this is
	 * @return the result, also of an analysis that failed; the caller closes it after
	 * writing the response
	 * @throws JobRefusedException if it may not begin
	 */
	public EndedJob<Analysis> run(Client client, AnalysisSettings settings, Caller caller) {
		AnalysisSettings limited = settings.withRateLimit(client.rateLimit(settings.rateLimit()));
		return this.tasks.run(client, JobKind.ANALYSIS, new RateLimit(limited.rateLimit()), caller, (task) -> {
			Analysis analysis = new AnalysisRun(task, limited, this.nodes, this.limits.maxPrefixes(), this.threads)
				.run();
			return new EndedJob<>(task.id(), analysis, task.ending(), false, task.memory());
		});
	}

	@PreDestroy
	void shutDown() {
		this.threads.shutdown();
	}

}
