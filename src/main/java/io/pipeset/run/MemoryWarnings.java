package io.pipeset.run;

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
 * Warns about the memory of the servers, which the outcomes of records do not show: keys
 * that a server evicted while the job ran, perhaps those that it wrote, and a server that
 * is nearly full. Only large or long jobs query it at their end, and only servers that
 * have a limit.
 */
final class MemoryWarnings {

	private static final Logger logger = LoggerFactory.getLogger(MemoryWarnings.class);

	private static final long MANY_RECORDS = 10_000;

	private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** A server is nearly full if less than one in this many bytes is free. */
	private static final int NEARLY_FULL = 10;

	/** Operations that do not add data. */
	private static final Set<Operation> FREEING = Set.of(Operation.HDEL, Operation.RPOP, Operation.LPOP, Operation.DEL,
			Operation.UNLINK, Operation.EXPIRE, Operation.PERSIST, Operation.SREM, Operation.ZREM, Operation.PEXPIRE,
			Operation.EXPIREAT, Operation.PEXPIREAT, Operation.HEXPIRE, Operation.GETDEL, Operation.DELIFEQ,
			Operation.RENAME, Operation.LMOVE, Operation.SMOVE, Operation.XTRIM);

	/** Ends of jobs for which Redis cannot answer, or no caller reads the report. */
	private static final Set<Cause> NOT_CHECKED = EnumSet.of(Cause.REDIS_LOST, Cause.REDIS_UNREACHABLE,
			Cause.CONTROL_UNREACHABLE, Cause.SHUTTING_DOWN, Cause.CANCELLED, Cause.INTERNAL_SERVER_ERROR);

	private final LaneContext context;

	private final Map<RedisNode, MemoryCheck> checks = new LinkedHashMap<>();

	/** Starts a check of each server's memory when the job begins. */
	MemoryWarnings(LaneContext context, boolean dryRun) {
		this.context = context;
		if (!dryRun) {
			for (RedisNode node : context.nodes().named()) {
				MemoryCheck check = node.memory().begin();
				if (check != null) {
					this.checks.put(node, check);
				}
			}
		}
	}

	/**
	 * Queries the memory again at the end of the job, of servers that may have a limit.
	 */
	List<Warning> end() {
		Ending stopped = this.context.stop().ending();
		boolean small = this.context.account().counts().received() <= MANY_RECORDS
				&& this.context.clock().totalNanos() <= LONG_NANOS;
		if (small || (stopped != null && NOT_CHECKED.contains(stopped.cause()))) {
			return List.of();
		}
		List<Warning> warnings = new ArrayList<>();
		this.checks.forEach((node, check) -> {
			ServerMemory before = check.memory();
			boolean queries = (before == null || before.isLimited()) && !node.isReplaced();
			ServerMemory after = (queries) ? query(node) : null;
			if (after != null) {
				warn(node, before, after, warnings);
			}
		});
		return warnings;
	}

	private static @Nullable ServerMemory query(RedisNode node) {
		try {
			return node.memory().end();
		}
		catch (RedisCallException ex) {
			logger.debug("The memory of {} cannot be queried", node.name(), ex);
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
					"Redis at " + node.name() + " uses " + after.usedBytes() + " bytes of its maxmemory of "
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
