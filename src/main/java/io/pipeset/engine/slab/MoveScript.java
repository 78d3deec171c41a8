package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;

import io.pipeset.record.Script;

/**
 * A script that runs LMOVE many times, because Redis has no such command. If a move
 * fails, its error answers its record and all later ones.
 */
final class MoveScript {

	/** With fewer values, the script takes Redis longer than single commands. */
	static final int MIN_RECORDS = 10;

	/**
	 * Its arguments are two lists, the two ends of LMOVE, and how many values to move.
	 */
	static final Script SCRIPT = Script.of("""
			local most = tonumber(ARGV[3])
			local moved = {}
			for i = 1, most do
			  local value = redis.pcall('LMOVE', KEYS[1], KEYS[2], ARGV[1], ARGV[2])
			  if not value then
			    break
			  end
			  if type(value) == 'table' then
			    if i == 1 then
			      return value
			    end
			    for j = i, most do
			      moved[j] = value
			    end
			    break
			  end
			  moved[i] = value
			end
			return moved
			""".getBytes(StandardCharsets.UTF_8));

	/**
	 * The command after its header, up to the arguments of LMOVE. The number of values
	 * follows those.
	 */
	static final byte[] HEAD = ("$7\r\nEVALSHA\r\n$40\r\n" + SCRIPT.sha() + "\r\n$1\r\n2\r\n")
		.getBytes(StandardCharsets.US_ASCII);

	/**
	 * The words of the command in addition to the arguments of LMOVE: EVALSHA, its SHA1,
	 * the number of keys, and the number of values.
	 */
	static final int WORDS = 4;

	private MoveScript() {
	}

}
