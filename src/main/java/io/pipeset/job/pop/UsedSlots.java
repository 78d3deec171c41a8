package io.pipeset.job.pop;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.pipeset.engine.servers.SlotCalls;
import io.pipeset.record.Slots;

/**
 * The slots of a cluster that may have receipts, each with the time of the next look at
 * it. They are kept in Redis, at one place for the whole cluster.
 * <p>
 * A slot is marked behind the receipt that is in it, and ahead of the first pop. It is
 * taken out when it was found empty twice, and only if nobody has marked it since before
 * the first look. So every slot with values stays, even if the first look was at a former
 * master that does not know yet that it was replaced.
 */
final class UsedSlots {

	private static final byte[] SLOTS = ReceiptKeys.bytes("pipeset:{receipts}:slots");

	/** Slot by slot the job that has marked it last, and when. */
	private static final byte[] MARKS = ReceiptKeys.bytes("pipeset:{receipts}:marks");

	private static final int PLACE = Slots.of(SLOTS, 0, SLOTS.length);

	/** A master that was replaced while it was paused hears of it within this time. */
	private static final Duration SECOND_LOOK = Duration.ofSeconds(10);

	/**
	 * Has a slot looked at after a time, or before. Arguments: slot, job, milliseconds.
	 * No mark is like another one: a job may mark its slot again, to record its receipt
	 * once more or to give it back.
	 */
	private static final String MARK = ReceiptScripts.TIME + """
			redis.call('HSET', KEYS[2], ARGV[1], ARGV[2] .. ' ' .. time[1] .. '.' .. time[2])
			redis.call('ZADD', KEYS[1], 'LT', now + ARGV[3], ARGV[1])
			return {1}
			""";

	/** Answers the slots whose time has come, and behind each the last mark there. */
	private static final String DUE = ReceiptScripts.TIME + """
			local answer = {}
			for i, slot in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now)) do
				answer[2 * i - 1] = slot
				answer[2 * i] = redis.call('HGET', KEYS[2], slot) or ''
			end
			return answer
			""";

	/**
	 * Notes what a look has found, unless the slot was marked meanwhile. Arguments: slot,
	 * the last mark there before the look, milliseconds until the next look; -1 for an
	 * empty slot, and milliseconds until the second look at an empty one. A look that is
	 * refused in its midst leaves no trace that a second one would take for a first.
	 */
	static final String LOOKED = ReceiptScripts.TIME + """
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
	 * Notes that a slot has a receipt.
	 * @param delay how long until the receipt is due
	 */
	void mark(int slot, String jobId, Duration delay) {
		call(MARK, slot, jobId, delay.toMillis());
	}

	/** The slots that are to be looked at now. */
	List<Use> due() {
		List<Object> answer = call(DUE);
		List<Use> uses = new ArrayList<>();
		for (int i = 0; i < answer.size(); i += 2) {
			uses.add(new Use(ReceiptKeys.ofSlot(Integer.parseInt(text(answer.get(i)))), text(answer.get(i + 1))));
		}
		return uses;
	}

	/**
	 * Notes that somebody has looked at a slot in which nothing is due.
	 * @param use the slot, as it was before the look
	 * @param nextMillis how long until a receipt there is due; -1 if there is none
	 */
	void looked(Use use, long nextMillis) {
		call(LOOKED, use.keys().slot(), use.lastMark(), nextMillis, SECOND_LOOK.toMillis());
	}

	private List<Object> call(String script, Object... arguments) {
		return this.calls.evalRepeatable(PLACE, script, List.of(SLOTS, MARKS), ReceiptScripts.arguments(arguments));
	}

	private static String text(Object bytes) {
		return new String((byte[]) bytes, StandardCharsets.UTF_8);
	}

	/** A slot that may have receipts. */
	record Use(ReceiptKeys keys, String lastMark) {

	}

}
