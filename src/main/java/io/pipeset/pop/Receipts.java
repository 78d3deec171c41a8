package io.pipeset.pop;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;

import io.pipeset.pipeline.RedisNodes;
import io.pipeset.pipeline.call.RedisCallException;
import io.pipeset.pipeline.call.RedisCalls;
import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;

/**
 * Receipts for values that were popped reliably. The values wait in a list of their own
 * until the caller says that it has them, and go back to the list that they came from if
 * it does not. Everything is in Redis, so that any instance may take any step.
 * <p>
 * Every method throws {@link RedisCallException} if Redis cannot be reached or refuses.
 */
@Component
public class Receipts {

	/** The values that one script moves, during which Redis serves nobody else. */
	static final int CHUNK = 500;

	private final RedisNodes nodes;

	Receipts(RedisNodes nodes) {
		this.nodes = nodes;
	}

	/**
	 * Whether there can be receipts. A cluster has none yet: a receipt's keys would have
	 * to be in the slot of each list.
	 * @return {@code false} in a cluster
	 */
	public boolean areSupported() {
		return !this.nodes.isCluster();
	}

	/**
	 * The list that a job's values are to be moved into, each to its left end.
	 * @param jobId the job
	 * @return a key
	 */
	public static byte[] listOf(String jobId) {
		return ReceiptKeys.popped(jobId);
	}

	/**
	 * Records a receipt, before anything is moved.
	 * @param jobId the job
	 * @param key the list it pops from
	 * @param ttl how long until the values go back
	 */
	public void open(String jobId, byte[] key, Duration ttl) {
		calls().evalRepeatable(ReceiptScripts.OPEN, ReceiptKeys.all(jobId, key), arguments(jobId, ttl.toMillis()));
	}

	/**
	 * Reads the values that were moved and are not known yet.
	 * @param jobId the job
	 * @param known how many values are known, all moved before
	 * @return the others in the order in which they were moved, or {@code null} if the
	 * receipt is gone
	 */
	public @Nullable List<byte[]> found(String jobId, long known) {
		List<Object> answer = calls().evalRepeatable(ReceiptScripts.FOUND, ReceiptKeys.own(jobId),
				arguments(jobId, known));
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
	 * @param jobId the job
	 * @param ttl how long until the values go back
	 * @param values how many the caller gets to know
	 * @return the deadline by Redis's clock, in milliseconds since 1970; empty where the
	 * receipt is gone, or its list has other values
	 */
	public OptionalLong handOver(String jobId, Duration ttl, long values) {
		long answer = number(calls().evalRepeatable(ReceiptScripts.HAND_OVER, ReceiptKeys.own(jobId),
				arguments(jobId, ttl.toMillis(), values)));
		return (answer > 0) ? OptionalLong.of(answer) : OptionalLong.empty();
	}

	/**
	 * Forgets a receipt, if nothing was moved.
	 * @param jobId the job
	 */
	public void drop(String jobId) {
		calls().evalRepeatable(ReceiptScripts.DROP, ReceiptKeys.own(jobId), arguments(jobId));
	}

	/**
	 * Gives the values up for good: the caller has them.
	 * @param jobId the job
	 * @return {@link Answer#DONE}, {@link Answer#GONE} or {@link Answer#PENDING}
	 */
	public Answer acknowledge(String jobId) {
		long answer = number(calls().evalOnce(ReceiptScripts.ACK, ReceiptKeys.own(jobId), arguments(jobId)));
		return (answer == 1) ? Answer.DONE : (answer == 0) ? Answer.GONE : Answer.PENDING;
	}

	/**
	 * Gives the values back to their list at once, even before the deadline.
	 * @param jobId the job
	 * @return {@link Answer#DONE}, {@link Answer#GONE}, or {@link Answer#BLOCKED}: then
	 * they go back as soon as they can
	 */
	public Answer giveBack(String jobId) {
		return giveBack(jobId, "now").answer();
	}

	/**
	 * Gives the values back if the deadline has passed.
	 * @param jobId the job
	 * @return the answer, and the values that went back
	 */
	Returned giveBackIfDue(String jobId) {
		return giveBack(jobId, "due");
	}

	/**
	 * The receipts whose deadline has passed, or that somebody has begun to give back.
	 * @param most how many to list
	 * @return their jobs, the oldest first
	 */
	List<String> due(int most) {
		return calls()
			.evalRepeatable(ReceiptScripts.DUE, List.of(ReceiptKeys.RECEIPTS),
					List.of(ReceiptKeys.bytes(Integer.toString(most))))
			.stream()
			.map((id) -> new String((byte[]) id, StandardCharsets.UTF_8))
			.toList();
	}

	/**
	 * Lets other receipts come before one that cannot be given back now.
	 * @param jobId the job
	 * @param pause how long until it is due again
	 */
	void postpone(String jobId, Duration pause) {
		calls().evalRepeatable(ReceiptScripts.POSTPONE, ReceiptKeys.own(jobId), arguments(jobId, pause.toMillis()));
	}

	private Returned giveBack(String jobId, String when) {
		List<Object> found = calls().evalRepeatable(ReceiptScripts.KEY, ReceiptKeys.own(jobId), List.of());
		byte[] key = (found.isEmpty()) ? ReceiptKeys.bytes("") : (byte[]) found.get(0);
		List<byte[]> keys = ReceiptKeys.all(jobId, key);
		long values = 0;
		while (true) {
			long moved = number(calls().evalRepeatable(ReceiptScripts.GIVE_BACK, keys, arguments(jobId, CHUNK, when)));
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

	private RedisCalls calls() {
		return this.nodes.single().calls();
	}

	private static long number(List<Object> answer) {
		return (Long) answer.get(0);
	}

	private static List<byte[]> arguments(Object... arguments) {
		List<byte[]> bytes = new ArrayList<>();
		for (Object argument : arguments) {
			bytes.add(ReceiptKeys.bytes(argument.toString()));
		}
		return bytes;
	}

	/**
	 * The outcome of giving a receipt back.
	 *
	 * @param answer whether it was
	 * @param values how many values went back
	 */
	record Returned(Answer answer, long values) {

	}

	/** The state of a receipt, as Redis answers. */
	public enum Answer {

		/** The step is done, and the receipt gone. */
		DONE,

		/** There is no such receipt, or no longer. */
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
