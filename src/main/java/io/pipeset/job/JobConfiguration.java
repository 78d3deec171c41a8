package io.pipeset.job;

import io.micrometer.core.instrument.MeterRegistry;
import io.pipeset.lane.LaneCapacity;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.memory.MemoryProperties;
import io.pipeset.pipeline.PipelineProperties;
import io.pipeset.pipeline.RedisCalls;
import io.pipeset.script.ScriptProperties;
import io.pipeset.script.Scripts;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Gives the packages below the limits of jobs that concern them. */
@Configuration(proxyBeanMethods = false)
class JobConfiguration {

	@Bean
	MemoryBudget memoryBudget(MemoryProperties memory, JobLimits limits, MeterRegistry registry) {
		return new MemoryBudget(memory, limits.maxRunningJobs(), limits.bodyIdleTimeout(), registry);
	}

	@Bean
	LaneCapacity laneCapacity(PipelineProperties pipeline, JobLimits limits, MeterRegistry registry) {
		return new LaneCapacity(pipeline.maxConnections(), limits.maxInflightBytes().toBytes(), registry);
	}

	@Bean
	Scripts scripts(SecurityProperties security, ScriptProperties properties, RedisCalls calls) {
		return new Scripts(security.scripts(), properties, calls);
	}

}
