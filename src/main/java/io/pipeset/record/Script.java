package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * A Lua script, which Redis knows by its SHA1 after it is loaded. Loading it again is
 * harmless. The service loads it before the records that run it, so that it need not
 * query whether Redis still has the script.
 */
public final class Script {

	/**
	 * HSET and EXPIRE, both or neither: the script first checks everything that could
	 * make EXPIRE fail. Before Redis 7, it checks the user's rights by an EXPIRE that
	 * always fails. A pcall returns an error of HSET unchanged. A hash with many fields
	 * is set in parts, because Lua's stack cannot hold all of them.
	 */
	private static final String HSET = """
			if not string.find(ARGV[1], '^[1-9]%d*$') or tonumber(ARGV[1]) > MOST then
			  return {err = 'ERR the time of EXPIRE is a whole number from 1 to MOST'}
			end
			local may = redis.acl_check_cmd
			if may and not (may('HSET', KEYS[1], ARGV[2], ARGV[3]) and may('EXPIRE', KEYS[1], ARGV[1])) then
			  return {err = 'NOPERM this user may not run both HSET and EXPIRE on this key'}
			end
			if not may then
			  local refused = redis.pcall('EXPIRE', KEYS[1], '')
			  if not string.find(refused.err, 'integer') then
			    return refused
			  end
			end
			local added = 0
			for first = 2, #ARGV, 1000 do
			  local reply = redis.pcall('HSET', KEYS[1], unpack(ARGV, first, math.min(first + 999, #ARGV)))
			  if type(reply) == 'table' then
			    return reply
			  end
			  added = added + reply
			end
			redis.call('EXPIRE', KEYS[1], ARGV[1])
			return added
			""";

	/** HSET and EXPIRE: the key expires after a number of seconds. */
	static final Script HSET_WITH_TTL = hset("EXPIRE", Expiry.MAX_SECONDS);

	/** HSET and PEXPIREAT: the key expires at a time in milliseconds since 1970. */
	static final Script HSET_EXPIRING_AT = hset("PEXPIREAT", Expiry.MAX_MILLIS);

	private final String sha;

	private final byte[] shaBytes;

	private final byte[] text;

	private final byte[] loading;

	private Script(String sha, byte[] text, byte[] loading) {
		this.sha = sha;
		this.text = text;
		this.shaBytes = sha.getBytes(StandardCharsets.US_ASCII);
		this.loading = loading;
	}

	private static Script hset(String expire, long most) {
		return of(
				HSET.replace("EXPIRE", expire).replace("MOST", String.valueOf(most)).getBytes(StandardCharsets.UTF_8));
	}

	public static Script of(byte[] text) {
		byte[] head = ("*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$" + text.length + "\r\n")
			.getBytes(StandardCharsets.US_ASCII);
		byte[] loading = new byte[head.length + text.length + 2];
		System.arraycopy(head, 0, loading, 0, head.length);
		System.arraycopy(text, 0, loading, head.length, text.length);
		loading[loading.length - 2] = '\r';
		loading[loading.length - 1] = '\n';
		try {
			return new Script(HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text)), text, loading);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("SHA-1 is missing, which every Java runtime must have", ex);
		}
	}

	/**
	 * The script's SHA1, by which records run it.
	 * @return 40 hexadecimal digits in lower case
	 */
	public String sha() {
		return this.sha;
	}

	byte[] shaBytes() {
		return this.shaBytes;
	}

	/** The script's text; not to be modified. */
	public byte[] text() {
		return this.text;
	}

	/**
	 * Whether a record runs the script.
	 * @param record a valid record of EVALSHA
	 * @return {@code false} if it runs another script, or has the SHA1 in upper case
	 */
	public boolean isRunBy(Record record) {
		int from = record.offset(0);
		return Arrays.equals(this.shaBytes, 0, this.shaBytes.length, record.source(0), from, from + record.length(0));
	}

	/**
	 * The command that loads the script; not to be modified.
	 * @return {@code SCRIPT LOAD} as RESP
	 */
	public byte[] loading() {
		return this.loading;
	}

}
