package io.pipeset.tuning;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.ServerMemory;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.SlotCalls;
import io.pipeset.record.Record;
import io.pipeset.record.Slots;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/** The servers that a tuning measures: the single one, or all masters of a cluster. */
final class TunedServers {

	private final RedisNodes nodes;

	private final SlotCalls calls;

	/**
	 * Creates the servers without a query.
	 * @param timeout how long a record may wait for a migrating slot
	 */
	TunedServers(RedisNodes nodes, JobStop stop, Duration timeout) {
		this.nodes = nodes;
		this.calls = new SlotCalls(nodes, timeout, stop);
	}

	/**
	 * The median round trip of the slowest master, which bounds the speed of a job, in
	 * nanoseconds.
	 */
	long roundTripNanos(int pings) {
		return masters().stream().mapToLong((master) -> master.calls().roundTripNanos(pings)).max().orElse(0);
	}

	/** The CPU time of all masters. */
	CpuTime cpuTime() {
		List<RedisNode> masters = masters();
		Double sum = 0.0;
		for (RedisNode master : masters) {
			Double seconds = master.calls().cpuSeconds();
			sum = (seconds != null && sum != null) ? Double.valueOf(sum + seconds) : null;
		}
		return new CpuTime(masters, sum);
	}

	/**
	 * Checks that the tuning's keys fit into Redis without evicting other keys.
	 * @param bytes the memory that all keys need
	 * @throws TuningEndedException if they do not fit
	 */
	void requireMemory(long bytes) {
		Map<RedisNode, Integer> slots = new LinkedHashMap<>();
		masters();
		for (int slot = 0; slot < Slots.COUNT; slot++) {
			RedisNode owner = owner(slot);
			if (owner != null) {
				slots.merge(owner, 1, Integer::sum);
			}
		}
		slots.forEach((master, count) -> {
			// Keys are not spread quite evenly over slots.
			long share = (count < Slots.COUNT) ? bytes * count / Slots.COUNT * 5 / 4 : bytes;
			ServerMemory memory = master.calls().memory();
			Long free = (memory != null) ? memory.freeBytes() : null;
			String name = this.nodes.nameOfOneOfSeveral(master);
			if (free != null && share > free) {
				throw new TuningEndedException(new Ending(Cause.REDIS_REFUSES,
						"The keys of the tuning take about " + share + " bytes, and Redis"
								+ ((name != null) ? " at " + name : "") + " has " + Math.max(0, free)
								+ " left of its maxmemory: set a smaller 'records' or 'valueBytes'"));
			}
		});
	}

	/**
	 * Checks whether Redis runs transactions on the tuning's keys.
	 * @return why not; {@code null} if it runs them
	 * @throws RedisCallException if Redis does not answer
	 */
	@Nullable String transactionRefusal() {
		if (this.nodes.isCluster()) {
			return "In a cluster all keys of a transaction must be in one slot, but the tuning's keys are in many";
		}
		try {
			masters().forEach((server) -> server.facts().checkTransactions());
			return null;
		}
		catch (RedisCallException ex) {
			if (ex.code() == null) {
				throw ex;
			}
			return ex.getMessage();
		}
	}

	/**
	 * The slot of a key in a cluster; 0 for a single server.
	 */
	int slot(byte[] key) {
		return (this.nodes.isCluster()) ? Slots.of(key, 0, key.length) : 0;
	}

	/**
	 * Sends a single record. It is sent again after a redirection, because a redirected
	 * command has not run.
	 */
	void send(Record record) {
		this.calls.ask(record.slot(), (calls, asking) -> calls.send(asking, record));
	}

	/** Removes a single key at the master that has it now. */
	void unlink(byte[] key) {
		this.calls.ask(Slots.of(key, 0, key.length), (calls, asking) -> calls.unlink(asking, key));
	}

	/**
	 * The master of a slot, as far as the service knows.
	 * @return {@code null} if the slot has no master
	 */
	@Nullable RedisNode owner(int slot) {
		try {
			return this.nodes.owners().owner(slot);
		}
		catch (NoConnectionException ex) {
			return null;
		}
	}

	/** Queries a cluster for its masters again. */
	void refresh() {
		this.nodes.refresh();
	}

	private List<RedisNode> masters() {
		try {
			return this.nodes.masters();
		}
		catch (NoConnectionException ex) {
			throw RedisCallException.unreachable(ex);
		}
	}

	/**
	 * The total CPU time of servers at one time.
	 *
	 * @param seconds the sum of their CPU times; {@code null} if one of them does not
	 * report it
	 */
	record CpuTime(List<RedisNode> masters, @Nullable Double seconds) {

		/**
		 * The seconds since another time; {@code null} if they are not known or the
		 * servers have changed.
		 */
		@Nullable Double since(CpuTime before) {
			return (this.seconds != null && before.seconds != null && this.masters.equals(before.masters))
					? Double.valueOf(this.seconds - before.seconds) : null;
		}

	}

}
