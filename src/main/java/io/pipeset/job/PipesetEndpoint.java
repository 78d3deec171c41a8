package io.pipeset.job;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToIntFunction;

import io.pipeset.control.ControlRedis;
import io.pipeset.lane.InFlightBytes;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.pipeline.ConnectionPermits;
import io.pipeset.pipeline.RedisNode;
import io.pipeset.servers.RedisNodes;

import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.stereotype.Component;

/**
 * Tells how many jobs, connections and bytes are in use right now:
 * {@code /actuator/pipeset}.
 */
@Component
@Endpoint(id = "pipeset")
class PipesetEndpoint {

	private final JobQueue queue;

	private final RedisNodes nodes;

	private final InFlightBytes inFlight;

	private final MemoryBudget memory;

	private final ControlRedis control;

	PipesetEndpoint(JobQueue queue, RedisNodes nodes, InFlightBytes inFlight, MemoryBudget memory,
			ControlRedis control) {
		this.control = control;
		this.queue = queue;
		this.nodes = nodes;
		this.inFlight = inFlight;
		this.memory = memory;
	}

	@ReadOperation
	Snapshot snapshot() {
		Map<String, Snapshot.Lanes> nodes = new TreeMap<>();
		this.nodes.named().forEach((node) -> nodes.put(node.name(), lanes(List.of(node))));
		return new Snapshot(this.queue.running(), this.queue.waiting(), lanes(this.nodes.named()), nodes,
				this.inFlight.now(), new Snapshot.Memory(this.memory.used(), this.memory.limits().budget(),
						this.memory.limits().mostOfOneJob(), this.memory.waiting()),
				this.control.state());
	}

	private static Snapshot.Lanes lanes(List<RedisNode> nodes) {
		return new Snapshot.Lanes(sum(nodes, ConnectionPermits::taken), sum(nodes, ConnectionPermits::count),
				sum(nodes, ConnectionPermits::waiting));
	}

	private static int sum(List<RedisNode> nodes, ToIntFunction<ConnectionPermits> number) {
		return nodes.stream().map(RedisNode::permits).mapToInt(number).sum();
	}

	/**
	 * The service at one moment.
	 *
	 * @param nodes the connections of all jobs to each server, by its host and port
	 * @param control the control Redis, as the last call has found it
	 * @param inFlightBytes commands between their slab's hand-over and its last reply
	 */
	record Snapshot(int jobsRunning, int jobsWaiting, Lanes lanes, Map<String, Lanes> nodes, long inFlightBytes,
			Memory memory, Map<String, Object> control) {

		/**
		 * The memory that jobs hold of their callers' data, until their answers are
		 * written.
		 *
		 * @param budgetBytes the bytes that all jobs together may hold
		 * @param jobBytes the bytes that one job may hold
		 */
		record Memory(long usedBytes, long budgetBytes, long jobBytes, int waiting) {

		}

		/**
		 * The connections of all jobs.
		 *
		 * @param waiting the jobs that wait for one
		 */
		record Lanes(int busy, int most, int waiting) {

		}

	}

}
