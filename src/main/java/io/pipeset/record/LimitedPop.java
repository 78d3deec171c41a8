package io.pipeset.record;

import java.nio.charset.StandardCharsets;

/**
 * RPOP or LPOP of many values up to a total size, by a script, as Redis has no such
 * limit. The values beyond the size stay in their list, and a nil after the others says
 * so. The first value is taken whatever its size.
 */
public final class LimitedPop {

	/**
	 * A pcall keeps the error of LINDEX or the pop unchanged. The script hands over the
	 * values that it has taken even if a later look fails: in a slot that is on its way,
	 * Redis refuses to look at a list that the script has emptied.
	 */
	private static final Script SCRIPT = Script.of("""
			local may = redis.acl_check_cmd
			if may and not (may('LINDEX', KEYS[1], 0) and may(ARGV[2], KEYS[1])) then
			  return {err = 'NOPERM this user may not run both LINDEX and ' .. ARGV[2] .. ' on this key'}
			end
			local next = ARGV[2] == 'RPOP' and -1 or 0
			local most = tonumber(ARGV[1])
			local left = tonumber(ARGV[3])
			local values = {}
			local taken = 0
			local last = false
			while taken < most do
			  last = redis.pcall('LINDEX', KEYS[1], next)
			  if type(last) == 'string' then
			    left = left - #last
			    if left < 0 and taken > 0 then
			      values[taken + 1] = false
			      break
			    end
			    last = redis.pcall(ARGV[2], KEYS[1])
			  end
			  if type(last) ~= 'string' then
			    break
			  end
			  taken = taken + 1
			  values[taken] = last
			end
			return taken > 0 and values or last
			""".getBytes(StandardCharsets.UTF_8));

	private LimitedPop() {
	}

	/**
	 * Limits a pop.
	 * @param record a good record of RPOP or LPOP with a count
	 * @param bytes the size of all values, 0 or more
	 */
	public static void limit(Record record, long bytes) {
		byte[] pop = record.operation().name().getBytes(StandardCharsets.US_ASCII);
		byte[] most = Long.toString(bytes).getBytes(StandardCharsets.US_ASCII);
		record.byScript(SCRIPT);
		record.argument(pop, 0, pop.length);
		record.argument(most, 0, most.length);
	}

}
