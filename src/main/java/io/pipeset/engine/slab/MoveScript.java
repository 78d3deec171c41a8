package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;

import io.pipeset.record.Script;

/**
 * LMOVE of many values, by a script, as Redis has no such command. An error in the middle
 * answers the record for which it came, and all behind it.
 */
final class MoveScript {

	/** A script for fewer values takes Redis longer than the commands by themselves. */
	static final int MIN_RECORDS = 10;

	/** Takes two lists, the two ends of LMOVE, and how many values to move. */
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

	/** The command as far as the arguments of LMOVE, and the number behind these. */
	static final byte[] HEAD = ("$7\r\nEVALSHA\r\n$40\r\n" + SCRIPT.sha() + "\r\n$1\r\n2\r\n")
		.getBytes(StandardCharsets.US_ASCII);

	/** The words beside the arguments of LMOVE. */
	static final int WORDS = 4;

	private MoveScript() {
	}

}
