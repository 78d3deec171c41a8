package io.pipeset.request;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.pipeset.engine.lane.InFlightBytes;
import io.pipeset.engine.script.ScriptProperties;
import io.pipeset.engine.script.Scripts;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.memory.MemoryProperties;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.task.ThreadPoolTaskSchedulerCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;

/** Creates the beans that the limits on jobs configure. */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties({ CallbackProperties.class, ClientsProperties.class, GeneratedProperties.class,
		JobDefaults.class, JobLimits.class, MemoryProperties.class, OperationProperties.class, ScriptProperties.class,
		SecurityProperties.class })
@EnableScheduling
class JobConfiguration {

	/** More than those that may wait for Redis, so that the others are not late. */
	private static final int PERIODIC_TASKS = 8;

	@Bean
	MemoryBudget memoryBudget(MemoryProperties memory, JobLimits limits, MeterRegistry registry) {
		return new MemoryBudget(memory, limits.maxRunningJobs(), limits.bodyIdleTimeout(), registry);
	}

	@Bean
	InFlightBytes inFlightBytes(JobLimits limits, MeterRegistry registry) {
		return new InFlightBytes(limits.maxInflightBytes().toBytes(), registry);
	}

	@Bean
	MeterBinder busyLanes(RedisNodes nodes) {
		return (registry) -> Gauge
			.builder("pipeset.lanes.busy", nodes,
					(all) -> all.named().stream().mapToInt((node) -> node.permits().taken()).sum())
			.description("Lanes that hold a connection")
			.register(registry);
	}

	/**
	 * Has threads for all periodic tasks, because some wait for Redis. They run while the
	 * service shuts down, so that callers can follow their jobs to the end.
	 */
	@Bean
	ThreadPoolTaskSchedulerCustomizer periodicTasks() {
		return (scheduler) -> {
			scheduler.setPoolSize(PERIODIC_TASKS);
			scheduler.setDaemon(true);
			scheduler.setAcceptTasksAfterContextClose(true);
		};
	}

	/** The client of all callers if no clients are configured. */
	@Bean
	Client anybody(SecurityProperties security) {
		return Client.anybody(security.scripts());
	}

	@Bean
	Scripts scripts(ScriptProperties properties, RedisNodes nodes) {
		return new Scripts(properties, nodes);
	}

}
