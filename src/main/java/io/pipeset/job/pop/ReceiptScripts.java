package io.pipeset.job.pop;

import java.util.Arrays;
import java.util.List;

/**
 * The steps of a receipt's life. Each step is one script: it happens whole or not at all,
 * even if an instance dies meanwhile, and goes by Redis's own clock. The keys are those
 * of {@link ReceiptKeys}, in their order, and the first argument is the job's id. In a
 * cluster a script has only the keys that it needs: while a slot is on its way, Redis
 * refuses a script if some of its keys are missing.
 * <p>
 * Redis undoes nothing if it refuses a command in the midst of a script, for a right that
 * the user lacks or a key of another type. So a refused command leaves a receipt that
 * sweepers find, and no error hides that values were moved or given up.
 * <p>
 * A receipt is {@code popping} until its job has ended, then {@code waiting} for its
 * caller, and {@code returning} once it is claimed. Only the name of the list tells whose
 * the values are: it is renamed when the receipt is claimed.
 */
final class ReceiptScripts {

	static final String TIME = """
			local time = redis.call('TIME')
			local now = time[1] * 1000 + math.floor(time[2] / 1000)
			""";

	/**
	 * Answers the deadline, or 0 if the receipt is there already and further than that:
	 * the call may come late, from a connection that was given up. Arguments:
	 * milliseconds until the deadline, the client.
	 */
	static final String OPEN = TIME + """
			if (redis.call('HGET', KEYS[2], 'state') or 'popping') ~= 'popping' then
				return {0}
			end
			local deadline = now + ARGV[2]
			redis.call('ZADD', KEYS[1], deadline, ARGV[1])
			redis.call('HSET', KEYS[2], 'state', 'popping', 'key', KEYS[5], 'client', ARGV[3])
			return {deadline}
			""";

	/**
	 * Records a receipt again that Redis has forgotten, if there are values of it: they
	 * are to go back at once. Answers how many. Argument: the client.
	 */
	static final String RECOVER = TIME + """
			if redis.call('EXISTS', KEYS[2]) == 1 or redis.call('TYPE', KEYS[3])['ok'] ~= 'list' then
				return {0}
			end
			local values = redis.call('LLEN', KEYS[3])
			redis.call('ZADD', KEYS[1], now, ARGV[1])
			redis.call('HSET', KEYS[2], 'state', 'popping', 'key', KEYS[5], 'client', ARGV[2])
			return {values}
			""";

	/**
	 * Answers 1 and the values behind those that are known; 0 if the receipt is gone, or
	 * known values are: a new master has not heard of their pops.
	 */
	static final String FOUND = """
			if redis.call('HGET', KEYS[2], 'state') ~= 'popping'
					or redis.call('LLEN', KEYS[3]) < tonumber(ARGV[2]) then
				return {0}
			end
			return {1, redis.call('LRANGE', KEYS[3], 0, -1 - ARGV[2])}
			""";

	/**
	 * Answers the new deadline; 0 if the receipt is gone, -1 if the list does not have
	 * the values of the report. Arguments: milliseconds, values in the report.
	 */
	static final String HAND_OVER = TIME + """
			local state = redis.call('HGET', KEYS[2], 'state')
			if state ~= 'popping' and state ~= 'waiting' then
				return {0}
			end
			if redis.call('LLEN', KEYS[3]) ~= tonumber(ARGV[3]) then
				return {-1}
			end
			local deadline = now + ARGV[2]
			redis.call('ZADD', KEYS[1], deadline, ARGV[1])
			redis.call('HSET', KEYS[2], 'state', 'waiting')
			return {deadline}
			""";

	/** Forgets a receipt that nobody has claimed, and that has no values. */
	static final String DROP = """
			if redis.call('HGET', KEYS[2], 'state') == 'popping' and redis.call('EXISTS', KEYS[3]) == 0 then
				redis.call('DEL', KEYS[2])
				redis.call('ZREM', KEYS[1], ARGV[1])
			end
			return {1}
			""";

	/**
	 * Answers 1 to the client whose receipt it was, 0 if the receipt is gone or another
	 * client's, and -1 if its job is not done. Argument: the client. Once the values are
	 * gone, nothing else may fail: sweepers forget a receipt that is left.
	 */
	static final String ACK = """
			local state = redis.call('HGET', KEYS[2], 'state')
			if (redis.call('HGET', KEYS[2], 'client') or 'none') ~= ARGV[2] then
				return {0}
			end
			if state == 'popping' then
				return {-1}
			end
			if state ~= 'waiting' then
				return {0}
			end
			redis.call('UNLINK', KEYS[3])
			if type(redis.pcall('DEL', KEYS[2])) == 'number' then
				redis.pcall('ZREM', KEYS[1], ARGV[1])
			end
			return {1}
			""";

	/**
	 * Claims the list, or goes on with one that is claimed, and moves some of its values
	 * back. Answers how many, which is fewer than asked for once all are back; or -1 if
	 * the receipt is gone, -2 if it is not due, and -3 if the values cannot go back now.
	 * Arguments: how many, {@code due} or {@code now}.
	 * <p>
	 * If the job may still be popping, a string takes the list's place: LMOVE to it
	 * fails, so that no value gets into a list that nobody looks after. If that is
	 * refused, the list gets its name back, or the next claim would overwrite the values.
	 * The values are counted first, as no script may use a key that it has emptied in a
	 * slot that is on its way.
	 */
	static final String GIVE_BACK = TIME + """
			local state = redis.call('HGET', KEYS[2], 'state')
			if not state then
				redis.call('ZREM', KEYS[1], ARGV[1])
				return {-1}
			end
			if state ~= 'returning' then
				local deadline = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0)
				if ARGV[3] == 'due' and deadline > now then
					return {-2}
				end
				local popped = redis.call('TYPE', KEYS[3])['ok'] == 'list'
				redis.call('ZADD', KEYS[1], now, ARGV[1])
				redis.call('HSET', KEYS[2], 'state', 'returning')
				local reply = popped and redis.pcall('RENAME', KEYS[3], KEYS[4]) or {}
				if not reply['err'] and state == 'popping' then
					reply = redis.pcall('SET', KEYS[3], 'given back', 'EX', 86400)
					if reply['err'] and popped then
						redis.call('RENAME', KEYS[4], KEYS[3])
					end
				end
				if reply['err'] then
					redis.call('HSET', KEYS[2], 'state', state)
					return reply
				end
			end
			local kind = redis.call('TYPE', KEYS[5])['ok']
			if kind ~= 'list' and kind ~= 'none' then
				redis.call('ZADD', KEYS[1], now + 60000, ARGV[1])
				return {-3}
			end
			local most = tonumber(ARGV[2])
			local moved = math.min(most, redis.call('LLEN', KEYS[4]))
			for i = 1, moved do
				redis.call('LMOVE', KEYS[4], KEYS[5], 'LEFT', 'RIGHT')
			end
			if moved < most then
				local reply = redis.pcall('DEL', KEYS[2])
				if type(reply) == 'number' then
					reply = redis.pcall('ZREM', KEYS[1], ARGV[1])
				end
				if type(reply) ~= 'number' and moved == 0 then
					return reply
				end
			end
			return {moved}
			""";

	/**
	 * Lets other receipts come first. Argument: milliseconds until this one is due again.
	 */
	static final String POSTPONE = TIME + """
			redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], ARGV[1])
			return {1}
			""";

	/**
	 * Answers the key of the list that the values came from, and the client, if there is
	 * a receipt. Needs the receipt's own key only.
	 */
	static final String KEY = """
			local key = redis.call('HGET', KEYS[1], 'key')
			return key and {key, redis.call('HGET', KEYS[1], 'client') or 'none'} or {}
			""";

	/**
	 * Answers the milliseconds until the next deadline, -1 without any, and behind that
	 * the ids whose deadline has passed, the oldest first. Needs the index only.
	 * Argument: how many ids.
	 */
	static final String DUE = TIME + """
			local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
			if #first == 0 then
				return {-1}
			end
			local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
			table.insert(due, 1, math.max(0, first[2] - now))
			return due
			""";

	private ReceiptScripts() {
	}

	/** The arguments of a script, each as text. */
	static List<byte[]> arguments(Object... arguments) {
		return Arrays.stream(arguments).map((argument) -> ReceiptKeys.bytes(argument.toString())).toList();
	}

}
