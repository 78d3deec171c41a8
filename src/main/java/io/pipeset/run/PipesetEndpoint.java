package io.pipeset.run;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToIntFunction;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pipeset.engine.lane.InFlightBytes;
import io.pipeset.engine.pipeline.ConnectionPermits;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.keep.Spool;
import io.pipeset.keep.control.ControlRedis;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.report.RedisIdentity;
import io.pipeset.request.JobLimits;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.stereotype.Component;

/**
 * The Actuator endpoint {@code /actuator/pipeset}, which shows how many jobs, connections
 * and bytes are in use now.
 */
@Component
@Endpoint(id = "pipeset")
class PipesetEndpoint {

	private final JobQueue queue;

	private final RedisNodes nodes;

	private final InFlightBytes inFlight;

	private final MemoryBudget memory;

	private final Spool spool;

	private final JobLimits limits;

	private final ControlRedis control;

	private final RedisIdentity redis;

	PipesetEndpoint(JobQueue queue, RedisNodes nodes, InFlightBytes inFlight, MemoryBudget memory, Spool spool,
			JobLimits limits, ControlRedis control, RedisIdentity redis) {
		this.redis = redis;
		this.spool = spool;
		this.limits = limits;
		this.control = control;
		this.queue = queue;
		this.nodes = nodes;
		this.inFlight = inFlight;
		this.memory = memory;
	}

	@ReadOperation
	Snapshot snapshot() {
		Map<String, Snapshot.Lanes> nodes = new TreeMap<>();
		this.nodes.named().forEach((node) -> nodes.put(node.name(), lanes(List.of(node), this.nodes.slots(node))));
		return new Snapshot(this.queue.running(), this.queue.waiting(), lanes(this.nodes.named(), null), nodes,
				this.inFlight.now(),
				new Snapshot.Memory(this.memory.used(), this.memory.limits().budget(),
						this.memory.limits().mostOfOneJob(), this.memory.waiting()),
				new Snapshot.Files(this.spool.used(), this.spool.maxBytes()),
				new Snapshot.Limits(this.limits.maxRunningJobs(), this.limits.maxWaitingJobs(), this.inFlight.most()),
				this.redis.name(), control());
	}

	/**
	 * The state of the control Redis. If it is the data Redis, it evicts its keys by the
	 * same policy.
	 */
	private Map<String, Object> control() {
		Map<String, Object> state = this.control.state();
		if (!this.control.isNamed()) {
			this.nodes.named()
				.stream()
				.map((node) -> node.memory().newest())
				.filter((memory) -> memory != null && memory.isEvicting())
				.findFirst()
				.ifPresent(
						(memory) -> state.putIfAbsent(ControlRedis.BEST_EFFORT, ControlRedis.POLICY + memory.policy()));
		}
		return state;
	}

	private static Snapshot.Lanes lanes(List<RedisNode> nodes, @Nullable Integer slots) {
		return new Snapshot.Lanes(sum(nodes, ConnectionPermits::taken), sum(nodes, ConnectionPermits::count),
				sum(nodes, ConnectionPermits::waiting), slots);
	}

	private static int sum(List<RedisNode> nodes, ToIntFunction<ConnectionPermits> number) {
		return nodes.stream().map(RedisNode::permits).mapToInt(number).sum();
	}

	/**
	 * The service at one time.
	 *
	 * @param nodes the connections of all jobs to each server, by its host and port
	 * @param redis the Redis that the jobs load, by its name in reports
	 * @param control the state of the control Redis at its last call
	 * @param inFlightBytes bytes of commands in flight: from the hand-over of their slab
	 * to its last reply
	 * @param spool the files of asynchronous jobs on disk
	 */
	record Snapshot(int jobsRunning, int jobsWaiting, Lanes lanes, Map<String, Lanes> nodes, long inFlightBytes,
			Memory memory, Files spool, Limits limits, String redis, Map<String, Object> control) {

		/**
		 * The memory that jobs use for data of callers, until their answers are written.
		 *
		 * @param budgetBytes the most bytes of all jobs together
		 * @param jobBytes the most bytes of one job
		 * @param waiting the jobs that wait for memory
		 */
		record Memory(long usedBytes, long budgetBytes, long jobBytes, int waiting) {

		}

		/**
		 * The connections of all jobs.
		 *
		 * @param waiting the number of waits for a connection
		 * @param slots the number of cluster slots of the server; {@code null} without a
		 * cluster, and for all servers together
		 */
		@JsonInclude(JsonInclude.Include.NON_NULL)
		record Lanes(int busy, int most, int waiting, @Nullable Integer slots) {

		}

		/** Files with a limit on their total size. */
		record Files(long usedBytes, long budgetBytes) {

		}

		/**
		 * The limits on the numbers with the same names.
		 *
		 * @param jobsWaiting the most waiting jobs whose callers wait; asynchronous jobs
		 * do not count
		 */
		record Limits(int jobsRunning, int jobsWaiting, long inFlightBytes) {

		}

	}

}
