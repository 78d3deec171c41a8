package io.pipeset.record;

import java.nio.charset.StandardCharsets;

/**
 * RPOP or LPOP of many values up to a total size. It is a script, because Redis has no
 * such limit. The values beyond the limit stay in their list, and the reply then ends
 * with a nil. The first value is popped whatever its size.
 */
public final class LimitedPop {

	/**
	 * A pcall returns an error of LINDEX or the pop unchanged. The script returns the
	 * values that it has popped even if a later LINDEX fails. For example, Redis refuses
	 * LINDEX in a slot that is being migrated, if the script has emptied the list.
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
	 * Turns a pop into one with a size limit.
	 * @param record a valid record of RPOP or LPOP with a count
	 * @param bytes the largest total size of the values, 0 or more
	 */
	public static void limit(Record record, long bytes) {
		byte[] pop = record.operation().name().getBytes(StandardCharsets.US_ASCII);
		byte[] most = Long.toString(bytes).getBytes(StandardCharsets.US_ASCII);
		record.runAsScript(SCRIPT);
		record.argument(pop, 0, pop.length);
		record.argument(most, 0, most.length);
	}

}
