package io.pipeset.record.body;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import io.pipeset.record.Operation;
import io.pipeset.record.encoding.Nearest;

/** Advice about the mistakes that many people make once, in whichever format. */
public final class Remedies {

	/** Advice for a body without the line breaks that it ought to have. */
	public static final String KEEP_LINES = "curl's -d takes line breaks out, --data-binary keeps them";

	static final String SAY_GZIP = "found gzip's first bytes, 1F 8B, and not records: compress once,"
			+ " and say so with -H 'Content-Encoding: gzip'";

	private static final List<String> OPERATIONS = Stream.of(Operation.values()).map(Operation::toString).toList();

	private Remedies() {
	}

	/**
	 * Says why an operation is refused that the table does not have.
	 * @param name the operation's name, or its excerpt
	 */
	public static String unknownOperation(String name) {
		return "operation '" + name + "' is not one that Pipeset sends" + switch (name.toUpperCase(Locale.ROOT)) {
			case "MULTI", "EXEC", "DISCARD" ->
				": leave MULTI, EXEC and DISCARD out, and ask for transactions with the setting atomic=batch";
			case "SELECT" -> ": leave it out, as the service's property spring.data.redis.database names the database";
			case "AUTH" -> ": leave it out, as the service's property spring.data.redis.password is for that";
			case "EVAL" -> ": load the script with POST /v1/scripts, and run it with EVALSHA";
			default -> nearest(name);
		};
	}

	private static String nearest(String name) {
		String nearest = Nearest.of(name, OPERATIONS);
		return (nearest != null) ? "; the nearest that it sends is " + nearest
				: "; docs/http.md lists the operations that it sends";
	}

}
