package io.pipeset.receipt;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.pipeset.engine.servers.SlotCalls;
import io.pipeset.record.Slots;

/**
 * The slots of a cluster that may have receipts, each with the time of its next check.
 * They are in Redis, under one key for the whole cluster.
 * <p>
 * A slot is marked after its receipt was created, and before the first pop. It is removed
 * when two checks found it empty, and only if no job has marked it since before the first
 * check. So every slot with values stays, even if the first check reached a former master
 * that does not know yet that it was replaced.
 */
final class UsedSlots {

	private static final byte[] SLOTS = ReceiptKeys.bytes("pipeset:{receipts}:slots");

	/** A hash: for each slot the job that has marked it last, and when. */
	private static final byte[] MARKS = ReceiptKeys.bytes("pipeset:{receipts}:marks");

	private static final int INDEX_SLOT = Slots.of(SLOTS, 0, SLOTS.length);

	/**
	 * The time between the two checks of an empty slot. Within it, a paused master learns
	 * that it was replaced.
	 */
	private static final Duration SECOND_CHECK_DELAY = Duration.ofSeconds(10);

	/**
	 * Marks a slot to be checked after a time, or earlier. Arguments: slot, job,
	 * milliseconds. Each mark is unique, because a job may mark its slot again when it
	 * creates its receipt again, or gives it back.
	 */
	private static final String MARK = ReceiptScripts.TIME + """
			redis.call('HSET', KEYS[2], ARGV[1], ARGV[2] .. ' ' .. time[1] .. '.' .. time[2])
			redis.call('ZADD', KEYS[1], 'LT', now + ARGV[3], ARGV[1])
			return {1}
			""";

	/** Returns the slots that are due, each followed by its last mark. */
	private static final String DUE = ReceiptScripts.TIME + """
			local answer = {}
			for i, slot in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)) do
				answer[2 * i - 1] = slot
				answer[2 * i] = redis.call('HGET', KEYS[2], slot) or ''
			end
			return answer
			""";

	/**
	 * Stores the result of a check, unless the slot was marked meanwhile. Arguments:
	 * slot, the last mark before the check, milliseconds until the next check or -1 for
	 * an empty slot, milliseconds until the second check of an empty slot. If Redis
	 * refuses a command within it, the next check does not count as the second.
	 */
	static final String STORE_CHECK = ReceiptScripts.TIME + """
			if (redis.call('HGET', KEYS[2], ARGV[1]) or '') ~= ARGV[2] then
				return {0}
			end
			if tonumber(ARGV[3]) < 0 and string.sub(ARGV[2], -6) == ' empty' then
				redis.call('ZREM', KEYS[1], ARGV[1])
				redis.call('HDEL', KEYS[2], ARGV[1])
			elseif tonumber(ARGV[3]) < 0 then
				redis.call('ZADD', KEYS[1], now + ARGV[4], ARGV[1])
				redis.call('HSET', KEYS[2], ARGV[1], ARGV[2] .. ' empty')
			else
				redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
			end
			return {1}
			""";

	private final SlotCalls calls;

	UsedSlots(SlotCalls calls) {
		this.calls = calls;
	}

	/**
	 * Marks a slot that has a receipt.
	 * @param delay the time until the receipt is due
	 */
	void mark(int slot, String jobId, Duration delay) {
		call(MARK, slot, jobId, delay.toMillis());
	}

	/** The slots to check now. */
	List<UsedSlot> due() {
		List<Object> answer = call(DUE);
		List<UsedSlot> used = new ArrayList<>();
		for (int i = 0; i < answer.size(); i += 2) {
			used.add(new UsedSlot(ReceiptKeys.ofSlot(Integer.parseInt(text(answer.get(i)))), text(answer.get(i + 1))));
		}
		return used;
	}

	/**
	 * Stores the result of a check that found no due receipt.
	 * @param used the slot as it was before the check
	 * @param nextMillis the time until a receipt is due, in milliseconds; -1 if there is
	 * none
	 */
	void storeCheck(UsedSlot used, long nextMillis) {
		call(STORE_CHECK, used.keys().slot(), used.lastMark(), nextMillis, SECOND_CHECK_DELAY.toMillis());
	}

	private List<Object> call(String script, Object... arguments) {
		return this.calls.evalRepeatable(INDEX_SLOT, script, List.of(SLOTS, MARKS),
				ReceiptScripts.arguments(arguments));
	}

	private static String text(Object bytes) {
		return new String((byte[]) bytes, StandardCharsets.UTF_8);
	}

	/** A slot that may have receipts. On a single server, it stands for the server. */
	record UsedSlot(ReceiptKeys keys, String lastMark) {

	}

}
