package io.pipeset.keyspace;

import io.pipeset.job.JobLimits;
import io.pipeset.job.JobRefusedException;
import io.pipeset.job.Tasks;
import io.pipeset.pipeline.PipelineProperties;
import io.pipeset.pipeline.RedisNodes;

import org.springframework.stereotype.Component;

/** Runs analyses, which are jobs like others. */
@Component
public class Analyses {

	private final Tasks tasks;

	private final RedisNodes nodes;

	private final PipelineProperties pipeline;

	private final JobLimits limits;

	Analyses(Tasks tasks, RedisNodes nodes, PipelineProperties pipeline, JobLimits limits) {
		this.tasks = tasks;
		this.nodes = nodes;
		this.pipeline = pipeline;
		this.limits = limits;
	}

	/**
	 * Runs an analysis in the calling thread, to its end, as soon as it may begin.
	 * @param settings the keys to look at, and how
	 * @return what it found, however it ended, to be closed when it is written
	 * @throws JobRefusedException if it may not begin
	 */
	public EndedAnalysis run(AnalysisSettings settings) {
		return this.tasks.run("analysis", (task) -> {
			Analysis analysis = new AnalysisRun(task, settings, this.nodes.single(), this.pipeline.connectTimeout(),
					this.limits.maxPrefixes())
				.run();
			return new EndedAnalysis(analysis, task.ending(), task.memory());
		});
	}

}
