package io.pipeset.record;

import java.util.Collection;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** What to do about the mistakes that most people make once, as messages say it. */
final class Remedies {

	static final String SEND_LINES = "one record a line is sent with -H 'Content-Type: application/x-ndjson'";

	static final String SEND_ARRAY = "an array of records is sent with -H 'Content-Type: application/json'";

	static final String WRAP_COMMAND = "as application/json, even a single command stands in an array of records:"
			+ " [[\"SET\",\"key\",\"value\"]]";

	static final String KEEP_LINES = "curl's -d takes line breaks out, --data-binary keeps them";

	static final String SAY_GZIP = "found gzip's first bytes, 1F 8B, and not records: compress once,"
			+ " and say so with -H 'Content-Encoding: gzip'";

	private static final Pattern COLUMN = Pattern.compile("op|key|value|ttl|arg[1-9][0-9]{0,4}");

	/** What items have beside the members of records. */
	private static final Set<String> OF_ITEMS = Set.of("index", "line", "status", "reply");

	private Remedies() {
	}

	/** What to do about an operation that the table does not have. */
	static String ofOperation(String name) {
		return switch (name.toUpperCase(Locale.ROOT)) {
			case "MULTI", "EXEC", "DISCARD" ->
				": leave MULTI, EXEC and DISCARD out, and ask for transactions with the setting atomic=batch";
			case "SELECT" -> ": leave it out, as the service's property spring.data.redis.database names the database";
			case "AUTH" -> ": leave it out, as the service's property spring.data.redis.password is for that";
			case "EVAL" -> ": load the script with POST /v1/scripts, and run it with EVALSHA";
			default -> "; allowed are " + Operation.names();
		};
	}

	/** What to do about a member that records do not have, if that is known. */
	static String ofMember(String name) {
		return (OF_ITEMS.contains(name))
				? "; an item of a report is not the whole record: post the record of that index or line again,"
						+ " as it was sent"
				: "";
	}

	/** What to do about the first of a header's names for which that is known. */
	static String ofColumns(Collection<String> names) {
		return names.stream().map(Remedies::ofColumn).filter((remedy) -> !remedy.isEmpty()).findFirst().orElse("");
	}

	/** What to do about a column that an operation has no use for, if that is known. */
	static String ofColumn(String name) {
		if (name.indexOf(';') >= 0 || name.indexOf('\t') >= 0) {
			return "; columns are separated by commas, not by " + ((name.indexOf(';') >= 0) ? "semicolons" : "tabs");
		}
		String meant = Excerpt.of(name).strip().toLowerCase(Locale.ROOT);
		if (meant.equals(name) || !COLUMN.matcher(meant).matches()) {
			return "";
		}
		return ((meant.length() < name.length()) ? "; spaces are part of a column's name: '"
				: "; columns are named in lower case: '") + meant + "'";
	}

}
