package io.pipeset.job.run;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.pipeline.MemoryCheck;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.ServerMemory;
import io.pipeset.record.Operation;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.Outcome;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of what the account of a job does not tell: the keys that a server evicted while
 * the job ran, which may be those that it wrote, and a server that it has nearly filled.
 * Only jobs of some size ask for it at their end, and only servers that have a limit.
 */
final class MemoryWarnings {

	private static final Logger logger = LoggerFactory.getLogger(MemoryWarnings.class);

	private static final long MANY_RECORDS = 10_000;

	private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** The share of its memory that a server has left when it is nearly full. */
	private static final int NEARLY_FULL = 10;

	/** Operations that add nothing to what is there. */
	private static final Set<Operation> FREEING = EnumSet.of(Operation.HDEL, Operation.RPOP, Operation.LPOP,
			Operation.DEL, Operation.UNLINK, Operation.EXPIRE, Operation.PERSIST, Operation.SREM, Operation.ZREM,
			Operation.PEXPIRE, Operation.EXPIREAT, Operation.PEXPIREAT, Operation.HEXPIRE, Operation.GETDEL,
			Operation.DELIFEQ, Operation.RENAME, Operation.LMOVE, Operation.SMOVE, Operation.XTRIM);

	/** Nobody is there to hear it, or nobody to be asked. */
	private static final Set<Cause> UNASKED = EnumSet.of(Cause.REDIS_LOST, Cause.REDIS_UNREACHABLE,
			Cause.CONTROL_UNREACHABLE, Cause.SHUTTING_DOWN, Cause.CANCELLED, Cause.INTERNAL_SERVER_ERROR);

	private final LaneContext context;

	private final Map<RedisNode, MemoryCheck> begun = new LinkedHashMap<>();

	/** Looks where the servers stand as the job begins. */
	MemoryWarnings(LaneContext context, boolean dryRun) {
		this.context = context;
		if (!dryRun) {
			for (RedisNode node : context.nodes().named()) {
				MemoryCheck look = node.memory().begin();
				if (look != null) {
					this.begun.put(node, look);
				}
			}
		}
	}

	/**
	 * Asks the servers again that may have a limit, once the job has nothing on its way.
	 */
	List<Warning> end() {
		Ending stopped = this.context.stop().ending();
		boolean small = this.context.account().counts().received() <= MANY_RECORDS
				&& this.context.clock().totalNanos() <= LONG_NANOS;
		if (small || (stopped != null && UNASKED.contains(stopped.cause()))) {
			return List.of();
		}
		List<Warning> warnings = new ArrayList<>();
		this.begun.forEach((node, look) -> {
			ServerMemory before = look.memory();
			boolean asks = (before == null || before.isLimited()) && !node.isReplaced();
			ServerMemory after = (asks) ? ask(node) : null;
			if (after != null) {
				warn(node, before, after, warnings);
			}
		});
		return warnings;
	}

	private static @Nullable ServerMemory ask(RedisNode node) {
		try {
			return node.memory().end();
		}
		catch (RedisCallException ex) {
			logger.debug("{} does not tell its memory", node.name(), ex);
			return null;
		}
	}

	private void warn(RedisNode node, @Nullable ServerMemory before, ServerMemory after, List<Warning> warnings) {
		String address = this.context.nodes().nameOfOneOfSeveral(node);
		long evicted = (before != null) ? after.evictedSince(before) : 0;
		if (evicted > 0) {
			warnings.add(new Warning("EVICTED", address, "Redis at " + node.name() + " evicted " + evicted
					+ " keys while the job ran, its own or others', to stay below its maxmemory of " + after.mostBytes()
					+ " bytes: its maxmemory-policy is " + after.policy()
					+ ". So applied records may be gone again. Raise maxmemory; with noeviction, Redis refuses to write"
					+ " instead.", evicted));
		}
		Long free = after.freeBytes();
		if (free != null && free < after.mostBytes() / NEARLY_FULL && hasWritten()) {
			warnings.add(new Warning("MAXMEMORY_NEAR", address,
					"Redis at " + node.name() + " takes " + after.usedBytes() + " bytes of its maxmemory of "
							+ after.mostBytes() + ". Beyond it, Redis "
							+ ((after.isEvicting()) ? "evicts keys" : "refuses to write") + ": its maxmemory-policy is "
							+ after.policy() + ".",
					null));
		}
	}

	private boolean hasWritten() {
		return this.context.account()
			.countsByOperation()
			.entrySet()
			.stream()
			.anyMatch((operation) -> operation.getValue().containsKey(Outcome.APPLIED)
					&& FREEING.stream().noneMatch((freeing) -> freeing.toString().equals(operation.getKey())));
	}

}
