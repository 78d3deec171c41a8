package io.pipeset.receipt;

import java.util.Arrays;
import java.util.List;

/**
 * The Lua scripts that change receipts. Each step is one script, so that it is atomic
 * even if an instance dies, and uses the clock of Redis. The keys are those of
 * {@link ReceiptKeys}, in their order, and the first argument is the job's id. A script
 * gets only the keys that it needs, because while a slot migrates, a cluster refuses a
 * script if some of its keys are missing.
 * <p>
 * If Redis refuses a command within a script, it does not undo the commands before it.
 * The user may lack a right, or a key may have another type. So the scripts are written
 * such that a refused command always leaves a receipt that sweepers find, and that no
 * error hides that values were moved or deleted.
 * <p>
 * A receipt is {@code popping} until its job has ended, then {@code waiting} for its
 * caller, and {@code returning} after it is claimed. The name of the list of values alone
 * decides who may take them: the list is renamed when the receipt is claimed.
 */
final class ReceiptScripts {

	static final String TIME = """
			local time = redis.call('TIME')
			local now = time[1] * 1000 + math.floor(time[2] / 1000)
			""";

	/**
	 * Creates a receipt. Returns the deadline, or 0 if the receipt exists in a later
	 * state, because the call may arrive late from a connection that was given up.
	 * Arguments: milliseconds until the deadline, the client.
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
	 * Creates a lost receipt again if its values still exist, so that they go back at
	 * once. Returns the number of values. Argument: the client.
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
	 * Returns 1 and the values popped after the known ones. Returns 0 if the receipt or
	 * known values are missing, because a new master may lack the last writes. Argument:
	 * how many values are known.
	 */
	static final String FOUND = """
			if redis.call('HGET', KEYS[2], 'state') ~= 'popping'
					or redis.call('LLEN', KEYS[3]) < tonumber(ARGV[2]) then
				return {0}
			end
			return {1, redis.call('LRANGE', KEYS[3], 0, -1 - ARGV[2])}
			""";

	/**
	 * Hands a receipt over to the caller. Returns the new deadline; 0 if the receipt is
	 * gone; -1 if the list does not have as many values as the report. Arguments:
	 * milliseconds until the deadline, values in the report.
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

	/** Deletes a receipt that is popping and has no values. */
	static final String DROP = """
			if redis.call('HGET', KEYS[2], 'state') == 'popping' and redis.call('EXISTS', KEYS[3]) == 0 then
				redis.call('DEL', KEYS[2])
				redis.call('ZREM', KEYS[1], ARGV[1])
			end
			return {1}
			""";

	/**
	 * Acknowledges a receipt. Returns 1 if its values are deleted; 0 if the receipt is
	 * gone or belongs to another client; -1 if its job has not ended. Argument: the
	 * client. After the values are deleted, no error may be returned; sweepers delete a
	 * remaining receipt.
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
	 * Claims the list, unless it is claimed already, and moves some of its values back.
	 * Returns how many were moved: fewer than requested when all are back. Returns -1 if
	 * the receipt is gone, -2 if it is not due, and -3 if the values cannot go back now,
	 * because the key of their list has another type. Arguments: how many values,
	 * {@code due} or {@code now}.
	 * <p>
	 * If the job may still be popping, a string replaces the list, so that LMOVE to it
	 * fails and no value gets into a list without a receipt. If Redis refuses the string,
	 * the list gets its old name again, because the next claim would overwrite the
	 * values. The values are counted first, because in a migrating slot no script may use
	 * a key that it has emptied.
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
	 * Postpones a receipt, so that others are given back first. Argument: milliseconds
	 * until it is due again.
	 */
	static final String POSTPONE = TIME + """
			redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], ARGV[1])
			return {1}
			""";

	/**
	 * Returns the key of the list that the values came from, and the client; nothing if
	 * there is no receipt. Its only key is that of the receipt.
	 */
	static final String KEY = """
			local key = redis.call('HGET', KEYS[1], 'key')
			return key and {key, redis.call('HGET', KEYS[1], 'client') or 'none'} or {}
			""";

	/**
	 * Returns the milliseconds until the next deadline, or -1 if there is none, and then
	 * the ids whose deadline has passed, the oldest first. Its only key is the index.
	 * Argument: the most ids.
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

	/** The arguments of a script as UTF-8 text. */
	static List<byte[]> arguments(Object... arguments) {
		return Arrays.stream(arguments).map((argument) -> ReceiptKeys.bytes(argument.toString())).toList();
	}

}
