package io.pipeset.record;

import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * The options of XTRIM, and the options between XADD's key and fields, by the grammar of
 * <a href="https://redis.io/docs/latest/commands/xadd/">XADD</a>. An XADD is never
 * repeatable. Even if the record contains the entry's ID, Redis refuses a repeat. The
 * report would then say that the entry was not added, although it was.
 */
public final class StreamOptions {

	private StreamOptions() {
	}

	/**
	 * Reads {@code [NOMKSTREAM] [MAXLEN | MINID [= | ~] threshold [LIMIT count]] id field
	 * value …}. The options may be in any order.
	 */
	static @Nullable String read(Record record) {
		String trim = null;
		boolean approximate = false;
		boolean limited = false;
		int last = record.argumentCount() - 1;
		int at = 1;
		while (at <= last && !isId(record, at)) {
			String named = (record.arguments().isWord(at, "MAXLEN")) ? "MAXLEN"
					: (record.arguments().isWord(at, "MINID")) ? "MINID" : null;
			if (named != null && at < last) {
				if (trim != null) {
					return "XADD takes MAXLEN or MINID, once";
				}
				trim = named;
				at++;
				boolean hasPrecision = at < last
						&& (record.arguments().isWord(at, "~") || record.arguments().isWord(at, "="));
				if (hasPrecision) {
					approximate = record.arguments().isWord(at, "~");
					at++;
				}
				if (trim.equals("MAXLEN") && record.number(at) < 0) {
					return "XADD's MAXLEN takes a whole number of 0 or more, not '" + record.excerpt(at) + "'";
				}
			}
			else if (record.arguments().isWord(at, "LIMIT") && at < last) {
				limited = true;
				if (record.number(++at) < 0) {
					return "XADD's LIMIT takes a whole number of 0 or more, not '" + record.excerpt(at) + "'";
				}
			}
			else if (record.arguments().isWord(at, "NOMKSTREAM")) {
				record.effect(Effect.CONDITIONAL);
			}
			else {
				return "XADD's '" + record.excerpt(at) + "' is neither an entry ID nor a"
						+ " supported option; allowed are NOMKSTREAM, MAXLEN, MINID and LIMIT";
			}
			at++;
		}
		if (limited && !approximate) {
			return "XADD's LIMIT goes with MAXLEN ~ or MINID ~";
		}
		int fields = last - at;
		return (fields >= 2 && fields % 2 == 0) ? null
				: "XADD takes pairs of a field and a value after its key, options and ID, not " + Math.max(fields, 0)
						+ " arguments";
	}

	/**
	 * Finds the ID among the words after the key of an XADD, of which some are not known
	 * yet.
	 * @param words the words; an unknown one is no option
	 * @return its position, or the number of words if only options are given
	 */
	public static int idPosition(List<String> words) {
		int at = 0;
		while (at < words.size()) {
			switch (words.get(at).toUpperCase(Locale.ROOT)) {
				case "NOMKSTREAM" -> at++;
				case "LIMIT" -> at += 2;
				case "MAXLEN", "MINID" -> {
					boolean marked = at + 1 < words.size() && List.of("~", "=").contains(words.get(at + 1));
					at += (marked) ? 3 : 2;
				}
				default -> {
					return at;
				}
			}
		}
		return words.size();
	}

	/**
	 * Reads {@code MAXLEN | MINID [= | ~] threshold [LIMIT count]}. An approximate trim
	 * may remove more entries if it is repeated.
	 */
	static @Nullable String readTrim(Record record) {
		boolean length = record.arguments().isWord(1, "MAXLEN");
		if (!length && !record.arguments().isWord(1, "MINID")) {
			return "XTRIM takes MAXLEN or MINID after its key, not '" + record.excerpt(1) + "'";
		}
		boolean approximate = record.arguments().isWord(2, "~");
		int at = (approximate || record.arguments().isWord(2, "=")) ? 3 : 2;
		int count = record.argumentCount();
		if (at == count) {
			return "XTRIM takes a threshold after '" + record.excerpt(2) + "'";
		}
		if (length && record.number(at) < 0) {
			return "XTRIM's MAXLEN takes a whole number of 0 or more, not '" + record.excerpt(at) + "'";
		}
		if (approximate) {
			record.effect(Effect.ONCE);
		}
		if (++at == count) {
			return null;
		}
		if (!record.arguments().isWord(at, "LIMIT") || at + 2 != count) {
			return "XTRIM's '" + record.excerpt(at) + "' is not a supported option; allowed is LIMIT count";
		}
		if (record.number(at + 1) < 0) {
			return "XTRIM's LIMIT takes a whole number of 0 or more, not '" + record.excerpt(at + 1) + "'";
		}
		return (approximate) ? null : "XTRIM's LIMIT goes with MAXLEN ~ or MINID ~";
	}

	/**
	 * Whether an argument begins like an entry ID. Redis reads the rest, and refuses an
	 * invalid ID.
	 */
	private static boolean isId(Record record, int argument) {
		if (record.length(argument) == 0) {
			return false;
		}
		byte first = record.source(argument)[record.offset(argument)];
		return (first >= '0' && first <= '9') || first == '*';
	}

}
