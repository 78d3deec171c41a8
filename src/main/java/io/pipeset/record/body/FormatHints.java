package io.pipeset.record.body;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.encoding.NearestName;

/** Advice about the mistakes that many people make once, in whichever format. */
public final class FormatHints {

	/** Advice for a body without the line breaks that it ought to have. */
	public static final String KEEP_LINES = "curl's -d takes line breaks out, --data-binary keeps them";

	private static final List<String> OPERATIONS = Stream.of(Operation.values()).map(Operation::toString).toList();

	private static final Set<String> OF_DATABASES = Set.of("SELECT", "SWAPDB", "RESET");

	private FormatHints() {
	}

	/**
	 * Refuses the records behind an operation that the table does not have, if they would
	 * be of another database: for formats in which nobody looks which one it is.
	 * @param name the operation's name, or its excerpt
	 */
	public static void leaveDatabase(Record record, String name) {
		if (OF_DATABASES.contains(name.toUpperCase(Locale.ROOT))) {
			record.wrongDatabase("the record stands behind '" + name + "', so that its database is not certain: take '"
					+ name + "' out together with the records of other databases");
		}
	}

	/**
	 * Says why an operation is refused that the table does not have.
	 * @param name the operation's name, or its excerpt
	 */
	public static String unknownOperation(String name) {
		return "operation '" + name + "' is not supported" + switch (name.toUpperCase(Locale.ROOT)) {
			case "MULTI", "EXEC", "DISCARD" ->
				": leave MULTI, EXEC and DISCARD out, and ask for transactions with the setting atomic=batch";
			case "SELECT" -> ": leave it out, as the service's property spring.data.redis.database names the database";
			case "AUTH" -> ": leave it out, as the service's property spring.data.redis.password is for that";
			case "FLUSHALL", "FLUSHDB" ->
				": nothing is emptied, and the records behind it meet what is there; empty the"
						+ " database first, or send maxErrors=0 to end the job here";
			case "EVAL" -> ": load the script with POST /v1/scripts, and run it with EVALSHA";
			default -> nearest(name);
		};
	}

	private static String nearest(String name) {
		String nearest = NearestName.of(name, OPERATIONS);
		return (nearest != null) ? "; the nearest supported one is " + nearest
				: "; docs/http.md lists the supported operations";
	}

}
