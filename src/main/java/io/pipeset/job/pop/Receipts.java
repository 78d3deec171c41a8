package io.pipeset.job.pop;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;

import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.SlotCalls;
import io.pipeset.job.pop.UsedSlots.Use;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.stereotype.Component;

/**
 * Receipts for values that were popped reliably. The values wait in a list of their own
 * until the caller says that it has them, and go back to the list that they came from if
 * it does not. Everything is in Redis, so that any instance may take any step. In a
 * cluster a receipt is in the slot of its list, and its job's id ends with that slot.
 * <p>
 * Every method throws {@link RedisCallException} if Redis cannot be reached or refuses.
 */
@Component
public class Receipts {

	private static final Logger logger = LoggerFactory.getLogger(Receipts.class);

	/** The values that one script moves, during which Redis serves nobody else. */
	static final int CHUNK = 500;

	/** Has values go back before their deadline. */
	private static final String NOW = "now";

	private static final Use SERVER = new Use(ReceiptKeys.OF_SERVER, "");

	private final SlotCalls calls;

	/** The slots with receipts; {@code null} on a single server. */
	private final @Nullable UsedSlots slots;

	Receipts(RedisNodes nodes) {
		this.calls = new SlotCalls(nodes);
		this.slots = (nodes.isCluster()) ? new UsedSlots(this.calls) : null;
	}

	/**
	 * The id of a job that pops reliably. In a cluster it names the slot of its list, so
	 * that everybody who knows the id finds the receipt.
	 * @param jobId an id that nobody uses
	 * @return an id of the same form
	 */
	public String jobId(String jobId, byte[] list) {
		return (this.slots != null) ? ReceiptKeys.jobId(jobId, list) : jobId;
	}

	/** The list that a job's values are to be moved into, each to its left end. */
	byte[] listOf(String jobId) {
		return keys(jobId).popped(jobId);
	}

	/**
	 * Records a receipt, before anything is moved.
	 * @param client the name of the client that has it
	 * @param ttl how long until the values go back
	 */
	void open(String jobId, String client, byte[] list, Duration ttl) {
		ReceiptKeys keys = keys(jobId);
		eval(keys, ReceiptScripts.OPEN, keys.all(jobId, list), jobId, ttl.toMillis(), client);
		try {
			mark(jobId, ttl);
		}
		catch (RedisCallException ex) {
			// Nobody would look for it.
			tryTo(() -> drop(jobId));
			throw ex;
		}
	}

	/** Has sweepers look for a receipt, which is there already. */
	void mark(String jobId, Duration delay) {
		if (this.slots != null) {
			this.slots.mark(keys(jobId).slot(), jobId, delay);
		}
	}

	/**
	 * Reads the values that were moved and are not known yet.
	 * @param known how many values are known, all moved before
	 * @return the others in the order in which they were moved, or {@code null} if the
	 * receipt is gone, or some of the known values are
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
	 * Hands a receipt over to its caller, with its whole time to come. It cannot be
	 * acknowledged before.
	 * @param ttl how long until the values go back
	 * @param values how many the caller gets to know
	 * @return the deadline by Redis's clock, in milliseconds since 1970; empty where the
	 * receipt is gone, or its list has other values
	 */
	OptionalLong handOver(String jobId, Duration ttl, long values) {
		ReceiptKeys keys = keys(jobId);
		long answer = number(
				eval(keys, ReceiptScripts.HAND_OVER, keys.unclaimed(jobId), jobId, ttl.toMillis(), values));
		return (answer > 0) ? OptionalLong.of(answer) : OptionalLong.empty();
	}

	/** Has values go back whose receipt Redis has forgotten, as a new master may have. */
	void recover(String jobId, String client, byte[] list) {
		ReceiptKeys keys = keys(jobId);
		if (number(eval(keys, ReceiptScripts.RECOVER, keys.all(jobId, list), jobId, client)) > 0) {
			mark(jobId, Duration.ZERO);
		}
	}

	/** Forgets a receipt, if nothing was moved. */
	void drop(String jobId) {
		ReceiptKeys keys = keys(jobId);
		eval(keys, ReceiptScripts.DROP, keys.unclaimed(jobId), jobId);
	}

	/**
	 * Gives the values up for good: the caller has them.
	 * @param client the name of the client that says so
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
	 * @param client the name of the client that asks for it
	 * @return {@link Answer#DONE}, {@link Answer#GONE}, or {@link Answer#BLOCKED}: then
	 * they go back as soon as they can
	 */
	public Answer giveBack(String jobId, String client) {
		return giveBack(keys(jobId), jobId, NOW, client).answer();
	}

	/** The places in which sweepers are to look for receipts now. */
	List<Use> places() {
		return (this.slots != null) ? this.slots.due() : List.of(SERVER);
	}

	/**
	 * The address of the master that has a place.
	 * @throws RedisCallException if it has none now, so that nobody waits for one
	 */
	String master(Use place) {
		return this.calls.owner(place.keys().slot()).name();
	}

	/**
	 * The receipts of a place whose deadline has passed, or that somebody has begun to
	 * give back. If there are none, the next look comes when there may be one.
	 * @return their jobs, the oldest first
	 */
	List<String> due(Use place, int most) {
		List<Object> answer = eval(place.keys(), ReceiptScripts.DUE, List.of(place.keys().index()), most);
		if (answer.size() == 1 && this.slots != null) {
			this.slots.looked(place, number(answer));
		}
		return answer.stream().skip(1).map((id) -> new String((byte[]) id, StandardCharsets.UTF_8)).toList();
	}

	/** Gives the values back if the deadline has passed. */
	Returned giveBackIfDue(Use place, String jobId) {
		return giveBack(place.keys(), jobId, "due", null);
	}

	/**
	 * Lets other receipts come before one that cannot be given back now.
	 * @param pause how long until it is due again
	 */
	void postpone(Use place, String jobId, Duration pause) {
		eval(place.keys(), ReceiptScripts.POSTPONE, List.of(place.keys().index()), jobId, pause.toMillis());
	}

	private Returned giveBack(ReceiptKeys keys, String jobId, String when, @Nullable String client) {
		List<Object> found = eval(keys, ReceiptScripts.KEY, List.of(keys.receipt(jobId)));
		// Without a receipt the script uses no list. The index only stands in for it.
		if (client != null
				&& (found.isEmpty() || !client.equals(new String((byte[]) found.get(1), StandardCharsets.UTF_8)))) {
			return new Returned(Answer.GONE, 0);
		}
		byte[] list = (found.isEmpty()) ? keys.index() : (byte[]) found.get(0);
		if (!found.isEmpty() && when.equals(NOW)) {
			// If this instance dies meanwhile, another one goes on at once.
			tryTo(() -> mark(jobId, Duration.ZERO));
		}
		long values = 0;
		while (true) {
			long moved = number(eval(keys, ReceiptScripts.GIVE_BACK, keys.all(jobId, list), jobId, CHUNK, when));
			if (moved == -1) {
				// In a later round, somebody else has finished it.
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

	/** Takes a step that helps, and that nobody relies on. */
	private static void tryTo(Runnable step) {
		try {
			step.run();
		}
		catch (RedisCallException ex) {
			logger.debug("A step of a receipt was left out", ex);
		}
	}

	private static long number(List<Object> answer) {
		return (Long) answer.get(0);
	}

	/** The outcome of giving a receipt back. */
	record Returned(Answer answer, long values) {

	}

	/** The state of a receipt, as Redis answers. */
	public enum Answer {

		/** The step is done, and the receipt gone. */
		DONE,

		/** The client has no such receipt, or no longer. */
		GONE,

		/**
		 * The step cannot be taken yet: the job is not done, or the deadline has not
		 * passed.
		 */
		PENDING,

		/**
		 * The receipt is claimed, but the key that the values came from holds no list
		 * now.
		 */
		BLOCKED

	}

}
