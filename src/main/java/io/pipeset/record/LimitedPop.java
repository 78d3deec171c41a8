package io.pipeset.record;

import java.nio.charset.StandardCharsets;

/**
 * RPOP or LPOP of many values up to a total size, by a script, as Redis has no such
 * limit. The values beyond the size stay in their list, and a nil after the others says
 * so. The first value is taken whatever its size.
 */
public final class LimitedPop {

	/** A pcall keeps the error of LINDEX or the pop unchanged. */
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
			while taken < most do
			  local value = redis.pcall('LINDEX', KEYS[1], next)
			  if not value then
			    break
			  end
			  if type(value) == 'table' then
			    return value
			  end
			  left = left - #value
			  if left < 0 and taken > 0 then
			    values[taken + 1] = false
			    break
			  end
			  value = redis.pcall(ARGV[2], KEYS[1])
			  if type(value) == 'table' then
			    return value
			  end
			  taken = taken + 1
			  values[taken] = value
			end
			return taken > 0 and values
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
