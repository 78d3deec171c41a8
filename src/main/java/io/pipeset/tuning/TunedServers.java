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
	 * The servers, which are not asked anything yet.
	 * @param timeout how long a record may wait for a slot that moves
	 */
	TunedServers(RedisNodes nodes, JobStop stop, Duration timeout) {
		this.nodes = nodes;
		this.calls = new SlotCalls(nodes, timeout, stop);
	}

	/** The median round trip, of the slowest master: a job goes at its pace. */
	long roundTripNanos(int pings) {
		return masters().stream().mapToLong((master) -> master.calls().roundTripNanos(pings)).max().orElse(0);
	}

	/** The processor time that all masters together have taken. */
	CpuTime cpuTime() {
		List<RedisNode> masters = masters();
		Double sum = 0.0;
		for (RedisNode master : masters) {
			Double seconds = master.calls().cpuSeconds();
			sum = (seconds != null && sum != null) ? Double.valueOf(sum + seconds) : null;
		}
		return new CpuTime(masters, sum);
	}

	/** Ends the tuning where keys would not fit, or would push out those of others. */
	void requireRoom(long bytes) {
		Map<RedisNode, Integer> slots = new LinkedHashMap<>();
		masters();
		for (int slot = 0; slot < Slots.COUNT; slot++) {
			RedisNode owner = owner(slot);
			if (owner != null) {
				slots.merge(owner, 1, Integer::sum);
			}
		}
		slots.forEach((master, count) -> {
			// Keys spread over slots, but not quite evenly.
			long share = (count < Slots.COUNT) ? bytes * count / Slots.COUNT * 5 / 4 : bytes;
			ServerMemory memory = master.calls().memory();
			Long free = (memory != null) ? memory.freeBytes() : null;
			String name = this.nodes.nameOfOneOfSeveral(master);
			if (free != null && share > free) {
				throw new TuningEndedException(new Ending(Cause.REDIS_REFUSES,
						"The keys of the tuning take about " + share + " bytes, and Redis"
								+ ((name != null) ? " at " + name : "") + " has " + Math.max(0, free)
								+ " left of its maxmemory: ask for fewer 'records' or 'valueBytes'"));
			}
		});
	}

	/**
	 * Finds out why transactions of the tuning's keys do not run now; {@code null} if
	 * they do.
	 * @throws RedisCallException if Redis does not answer
	 */
	@Nullable String transactionRefusal() {
		if (this.nodes.isCluster()) {
			return "In a cluster a transaction needs its keys in one slot, and those of the tuning are in many";
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
	 * The slot of a key, if a command has the keys of one slot only; 0 if it need not.
	 */
	int slot(byte[] key) {
		return (this.nodes.isCluster()) ? Slots.of(key, 0, key.length) : 0;
	}

	/**
	 * Sends a record by itself. A cluster's redirection says that it has not run, so it
	 * is sent again.
	 */
	void send(Record record) {
		this.calls.ask(record.slot(), (calls, asking) -> calls.send(asking, record));
	}

	/** Removes a key by itself, wherever its slot is now. */
	void unlink(byte[] key) {
		this.calls.ask(Slots.of(key, 0, key.length), (calls, asking) -> calls.unlink(asking, key));
	}

	/**
	 * The master of a slot, as far as the service knows.
	 * @return {@code null} where it has none
	 */
	@Nullable RedisNode owner(int slot) {
		try {
			return this.nodes.owners().owner(slot);
		}
		catch (NoConnectionException ex) {
			return null;
		}
	}

	/** Asks a cluster for its masters once more. */
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
	 * The processor time that servers had taken at one moment.
	 *
	 * @param seconds their time; {@code null} if one of them does not tell it
	 */
	record CpuTime(List<RedisNode> masters, @Nullable Double seconds) {

		/**
		 * The time since another moment; {@code null} if the servers are not the same.
		 */
		@Nullable Double since(CpuTime before) {
			return (this.seconds != null && before.seconds != null && this.masters.equals(before.masters))
					? Double.valueOf(this.seconds - before.seconds) : null;
		}

	}

}
