package io.pipeset.keyspace;

import io.pipeset.job.JobLimits;
import io.pipeset.job.JobRefusedException;
import io.pipeset.job.Tasks;
import io.pipeset.pipeline.PipelineProperties;
import io.pipeset.pipeline.RedisNode;

import org.springframework.stereotype.Component;

/** Runs analyses, which are jobs like others. */
@Component
public class Analyses {

	private final Tasks tasks;

	private final RedisNode node;

	private final PipelineProperties pipeline;

	private final JobLimits limits;

	Analyses(Tasks tasks, RedisNode node, PipelineProperties pipeline, JobLimits limits) {
		this.tasks = tasks;
		this.node = node;
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
			Analysis analysis = new AnalysisRun(task, settings, this.node, this.pipeline.connectTimeout(),
					this.limits.maxPrefixes())
				.run();
			return new EndedAnalysis(analysis, task.ending(), task.memory());
		});
	}

}
