package io.pipeset.receipt;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;

import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.SlotCalls;
import io.pipeset.receipt.UsedSlots.UsedSlot;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.stereotype.Component;

/**
 * The receipts of reliable pops. Popped values wait in a list of their own until the
 * caller acknowledges them; if it does not, they go back to the list that they came from.
 * All state is in Redis, so that any instance can take any step. In a cluster a receipt
 * is in the slot of its list, and the id of its job ends with that slot.
 * <p>
 * Every method throws {@link RedisCallException} if Redis cannot be reached or refuses.
 */
@Component
public class Receipts {

	private static final Logger logger = LoggerFactory.getLogger(Receipts.class);

	/** The most values that one script moves, which blocks other clients. */
	static final int CHUNK = 500;

	/** The argument that gives values back before their deadline. */
	private static final String NOW = "now";

	private static final UsedSlot SINGLE_SERVER = new UsedSlot(ReceiptKeys.OF_SERVER, "");

	private final SlotCalls calls;

	/** The slots with receipts; {@code null} on a single server. */
	private final @Nullable UsedSlots slots;

	Receipts(RedisNodes nodes) {
		this.calls = new SlotCalls(nodes);
		this.slots = (nodes.isCluster()) ? new UsedSlots(this.calls) : null;
	}

	/**
	 * The id of a job that pops reliably. In a cluster it ends with the slot of its list,
	 * so that the receipt is found by the id alone.
	 * @param jobId a new id
	 * @return an id of the same form
	 */
	public String jobId(String jobId, byte[] list) {
		return (this.slots != null) ? ReceiptKeys.jobId(jobId, list) : jobId;
	}

	/** The key of the list that receives a job's values, each at its left end. */
	byte[] listOf(String jobId) {
		return keys(jobId).popped(jobId);
	}

	/**
	 * Creates a receipt, before any value is popped.
	 * @param client the name of the client that owns it
	 * @param ttl the time until the values go back
	 */
	void open(String jobId, String client, byte[] list, Duration ttl) {
		ReceiptKeys keys = keys(jobId);
		eval(keys, ReceiptScripts.OPEN, keys.all(jobId, list), jobId, ttl.toMillis(), client);
		try {
			mark(jobId, ttl);
		}
		catch (RedisCallException ex) {
			// Without a mark, no sweeper finds the receipt.
			tryTo(() -> drop(jobId));
			throw ex;
		}
	}

	/** Marks the slot of an existing receipt, so that sweepers check it. */
	void mark(String jobId, Duration delay) {
		if (this.slots != null) {
			this.slots.mark(keys(jobId).slot(), jobId, delay);
		}
	}

	/**
	 * Reads the popped values that are not known yet.
	 * @param known how many values are known; they were popped before all others
	 * @return the unknown values in the order of their pops; {@code null} if the receipt
	 * or a known value is gone
	 */
	@Nullable List<byte[]> found(String jobId, long known) {
		ReceiptKeys keys = keys(jobId);
		List<Object> answer = eval(keys, ReceiptScripts.FOUND, keys.unclaimed(jobId), jobId, known);
		if (number(answer) == 0) {
			return null;
		}
		List<byte[]> values = new ArrayList<>();
		for (Object value : (List<?>) answer.get(1)) {
			values.add((byte[]) value);
		}
		Collections.reverse(values);
		return values;
	}

	/**
	 * Hands a receipt over to its caller, with a new deadline. Before that it cannot be
	 * acknowledged.
	 * @param ttl the time until the values go back
	 * @param values how many values the report has
	 * @return the deadline by Redis's clock, in milliseconds since 1970; empty if the
	 * receipt is gone, or its list has another number of values
	 */
	OptionalLong handOver(String jobId, Duration ttl, long values) {
		ReceiptKeys keys = keys(jobId);
		long answer = number(
				eval(keys, ReceiptScripts.HAND_OVER, keys.unclaimed(jobId), jobId, ttl.toMillis(), values));
		return (answer > 0) ? OptionalLong.of(answer) : OptionalLong.empty();
	}

	/** Creates a receipt again that a new master has lost, so that its values go back. */
	void recover(String jobId, String client, byte[] list) {
		ReceiptKeys keys = keys(jobId);
		if (number(eval(keys, ReceiptScripts.RECOVER, keys.all(jobId, list), jobId, client)) > 0) {
			mark(jobId, Duration.ZERO);
		}
	}

	/** Deletes a receipt, if no value was popped. */
	void drop(String jobId) {
		ReceiptKeys keys = keys(jobId);
		eval(keys, ReceiptScripts.DROP, keys.unclaimed(jobId), jobId);
	}

	/**
	 * Acknowledges a receipt: deletes the values, because the caller has them.
	 * @param client the name of the client that acknowledges them
	 * @return {@link Answer#DONE}, {@link Answer#GONE} or {@link Answer#PENDING}
	 */
	public Answer acknowledge(String jobId, String client) {
		ReceiptKeys keys = keys(jobId);
		long answer = number(this.calls.evalOnce(keys.slot(), ReceiptScripts.ACK, keys.unclaimed(jobId),
				ReceiptScripts.arguments(jobId, client)));
		return switch ((int) answer) {
			case 1 -> Answer.DONE;
			case -1 -> Answer.PENDING;
			default -> Answer.GONE;
		};
	}

	/**
	 * Gives the values back to their list at once, even before the deadline.
	 * @param client the name of the client that requests it
	 * @return {@link Answer#DONE}, {@link Answer#GONE}, or {@link Answer#BLOCKED}: then a
	 * sweeper gives them back later
	 */
	public Answer giveBack(String jobId, String client) {
		return giveBack(keys(jobId), jobId, NOW, client).answer();
	}

	/** The slots that sweepers check now. */
	List<UsedSlot> dueSlots() {
		return (this.slots != null) ? this.slots.due() : List.of(SINGLE_SERVER);
	}

	/**
	 * The address of the master of a slot.
	 * @throws RedisCallException if the slot has no master now
	 */
	String master(UsedSlot slot) {
		return this.calls.owner(slot.keys().slot()).name();
	}

	/**
	 * The receipts of a slot whose deadline has passed, or that an instance has begun to
	 * give back. If there are none, the next check of the slot is set to the next
	 * deadline.
	 * @param limit the most receipts to return
	 * @return the ids of their jobs, the oldest first
	 */
	List<String> dueJobs(UsedSlot slot, int limit) {
		List<Object> answer = eval(slot.keys(), ReceiptScripts.DUE, List.of(slot.keys().index()), limit);
		if (answer.size() == 1 && this.slots != null) {
			this.slots.storeCheck(slot, number(answer));
		}
		return answer.stream().skip(1).map((id) -> new String((byte[]) id, StandardCharsets.UTF_8)).toList();
	}

	/** Gives the values back if the deadline has passed. */
	Returned giveBackIfDue(UsedSlot slot, String jobId) {
		return giveBack(slot.keys(), jobId, "due", null);
	}

	/**
	 * Postpones a receipt that cannot be given back now, so that others are given back
	 * first.
	 * @param delay the time until it is due again
	 */
	void postpone(UsedSlot slot, String jobId, Duration delay) {
		eval(slot.keys(), ReceiptScripts.POSTPONE, List.of(slot.keys().index()), jobId, delay.toMillis());
	}

	private Returned giveBack(ReceiptKeys keys, String jobId, String when, @Nullable String client) {
		List<Object> found = eval(keys, ReceiptScripts.KEY, List.of(keys.receipt(jobId)));
		// Without a receipt the script uses no list: the index stands in for it.
		if (client != null
				&& (found.isEmpty() || !client.equals(new String((byte[]) found.get(1), StandardCharsets.UTF_8)))) {
			return new Returned(Answer.GONE, 0);
		}
		byte[] list = (found.isEmpty()) ? keys.index() : (byte[]) found.get(0);
		if (!found.isEmpty() && when.equals(NOW)) {
			// If this instance dies meanwhile, another one continues at once.
			tryTo(() -> mark(jobId, Duration.ZERO));
		}
		long values = 0;
		while (true) {
			long moved = number(eval(keys, ReceiptScripts.GIVE_BACK, keys.all(jobId, list), jobId, CHUNK, when));
			if (moved == -1) {
				// After the first round, another instance may have finished it.
				return new Returned((values > 0) ? Answer.DONE : Answer.GONE, values);
			}
			if (moved < 0) {
				return new Returned((moved == -2) ? Answer.PENDING : Answer.BLOCKED, values);
			}
			values += moved;
			if (moved < CHUNK) {
				return new Returned(Answer.DONE, values);
			}
		}
	}

	private ReceiptKeys keys(String jobId) {
		return (this.slots != null) ? ReceiptKeys.ofJob(jobId) : ReceiptKeys.OF_SERVER;
	}

	private List<Object> eval(ReceiptKeys keys, String script, List<byte[]> names, Object... arguments) {
		return this.calls.evalRepeatable(keys.slot(), script, names, ReceiptScripts.arguments(arguments));
	}

	/** Takes an optional step; if it fails, this only logs it. */
	private static void tryTo(Runnable step) {
		try {
			step.run();
		}
		catch (RedisCallException ex) {
			logger.debug("An optional step of a receipt failed", ex);
		}
	}

	private static long number(List<Object> answer) {
		return (Long) answer.get(0);
	}

	/** The result of giving a receipt back. */
	record Returned(Answer answer, long values) {

	}

	/** The result of a step. */
	public enum Answer {

		/** The step is done, and the receipt is deleted. */
		DONE,

		/** The client has no such receipt, or no longer has it. */
		GONE,

		/** Too early: the job has not ended, or the deadline has not passed. */
		PENDING,

		/** The receipt is claimed, but the key of the list has another type now. */
		BLOCKED

	}

}
