package io.pipeset.record.body;

import java.util.Locale;
import java.util.Set;

import io.pipeset.record.OperationFinder;
import io.pipeset.record.Record;
import io.pipeset.record.encoding.NearestName;

/** Advice about common first mistakes in all formats. */
public final class FormatHints {

	/** Advice for a body whose line breaks are missing. */
	public static final String KEEP_LINE_BREAKS = "curl's -d removes line breaks, --data-binary keeps them";

	private static final Set<String> CHANGES_DATABASE = Set.of("SELECT", "SWAPDB", "RESET");

	/** Commands that read, which people put into files of records by mistake. */
	private static final Set<String> READS = Set.of("GET", "MGET", "GETRANGE", "STRLEN", "HGET", "HMGET", "HGETALL",
			"HKEYS", "HVALS", "HLEN", "HEXISTS", "LRANGE", "LLEN", "LINDEX", "SMEMBERS", "SCARD", "SISMEMBER", "ZRANGE",
			"ZSCORE", "ZCARD", "ZREVRANGE", "ZRANGEBYSCORE", "XRANGE", "XREAD", "XLEN", "EXISTS", "TTL", "PTTL", "TYPE",
			"KEYS", "SCAN", "HSCAN", "SSCAN", "ZSCAN", "DBSIZE", "INFO", "PING", "DUMP", "OBJECT");

	private FormatHints() {
	}

	/**
	 * Refuses this and the following records after an unsupported operation, if that
	 * operation may change the database. This is for formats that do not follow SELECT.
	 * @param name the operation's name, or an excerpt of it
	 */
	public static void rejectAfterDatabaseChange(Record record, String name) {
		if (CHANGES_DATABASE.contains(name.toUpperCase(Locale.ROOT))) {
			record.wrongDatabase("the record follows '" + name + "', so its database is not known: remove '" + name
					+ "' together with the records of other databases");
		}
	}

	/**
	 * The message for an unsupported operation.
	 * @param name the operation's name, or an excerpt of it
	 * @param operations knows the supported operations
	 */
	public static String unknownOperation(String name, OperationFinder operations) {
		String upper = name.toUpperCase(Locale.ROOT);
		return "operation '" + name + "' is not supported" + switch (upper) {
			case "MULTI", "EXEC", "DISCARD" ->
				": leave MULTI, EXEC and DISCARD out, and use the setting atomic=batch for transactions";
			case "SELECT" ->
				": leave it out, because the service's property spring.data.redis.database sets the database";
			case "AUTH" ->
				": leave it out, because the service's property spring.data.redis.password sets the password";
			case "FLUSHALL", "FLUSHDB" ->
				": no key is deleted, so the records after it find the existing keys; empty the"
						+ " database first, or send maxErrors=0 to end the job here";
			case "EVAL" -> ": load the script with POST /v1/scripts, and run it with EVALSHA";
			case "SORT", "GEORADIUS", "GEORADIUSBYMEMBER" ->
				": with STORE it would write a key that its other arguments hide; commands after it may depend on that key";
			default -> (READS.contains(upper)) ? ": it only reads, and records write"
					: (name.startsWith("--") || name.startsWith("//")) ? ": a remark begins with #"
							: nearest(name, operations);
		};
	}

	private static String nearest(String name, OperationFinder operations) {
		String nearest = NearestName.of(name, operations.names());
		return ((nearest != null) ? "; the nearest supported one is " + nearest
				: "; docs/formats.md lists the supported operations") + operations.limits();
	}

}
