package io.pipeset.record;

import org.jspecify.annotations.Nullable;

/**
 * What may stand between XADD's key and its fields, by the grammar of
 * <a href="https://redis.io/docs/latest/commands/xadd/">XADD</a>. No form of it is
 * repeatable: even where the record names the entry's ID, a repeat is refused by Redis,
 * and the report would say of an entry that is there that it is not.
 */
final class StreamOptions {

	private StreamOptions() {
	}

	/**
	 * Reads
	 * {@code [NOMKSTREAM] [MAXLEN | MINID [= | ~] threshold [LIMIT count]] id field value …},
	 * whose options come in any order.
	 */
	static @Nullable String read(Record record) {
		String trim = null;
		boolean about = false;
		boolean limited = false;
		int last = record.argumentCount() - 1;
		int at = 1;
		while (at <= last && !isId(record, at)) {
			String named = (Words.is(record, at, "MAXLEN")) ? "MAXLEN"
					: (Words.is(record, at, "MINID")) ? "MINID" : null;
			if (named != null && at < last) {
				if (trim != null) {
					return "XADD takes MAXLEN or MINID, once";
				}
				trim = named;
				at++;
				boolean marked = at < last && (Words.is(record, at, "~") || Words.is(record, at, "="));
				if (marked) {
					about = Words.is(record, at, "~");
					at++;
				}
				if (trim.equals("MAXLEN") && record.number(at) < 0) {
					return "XADD's MAXLEN takes a whole number of 0 or more, not '" + record.excerpt(at) + "'";
				}
			}
			else if (Words.is(record, at, "LIMIT") && at < last) {
				limited = true;
				if (record.number(++at) < 0) {
					return "XADD's LIMIT takes a whole number of 0 or more, not '" + record.excerpt(at) + "'";
				}
			}
			else if (Words.is(record, at, "NOMKSTREAM")) {
				record.form(Form.CONDITIONAL);
			}
			else {
				return "XADD's '" + record.excerpt(at) + "' is neither an entry's ID nor an option that"
						+ " Pipeset sends; allowed are NOMKSTREAM, MAXLEN, MINID and LIMIT";
			}
			at++;
		}
		if (limited && !about) {
			return "XADD's LIMIT goes with MAXLEN ~ or MINID ~";
		}
		int fields = last - at;
		return (fields >= 2 && fields % 2 == 0) ? null
				: "XADD takes pairs of a field and a value after its key, options and ID, not " + Math.max(fields, 0)
						+ " arguments";
	}

	/** Redis reads the rest of it, and says what it is not. */
	private static boolean isId(Record record, int argument) {
		if (record.length(argument) == 0) {
			return false;
		}
		byte first = record.source(argument)[record.offset(argument)];
		return (first >= '0' && first <= '9') || first == '*';
	}

}
