package io.pipeset.record;

import org.jspecify.annotations.Nullable;

/**
 * The paths and options of JSON.SET and JSON.MSET. Only writing a whole document has the
 * same result whatever is stored. After a later record, a path may match other members.
 * If the path's parent is missing, it matches nothing, and Redis answers nil.
 */
final class JsonPaths {

	private JsonPaths() {
	}

	/** Reads {@code path value [NX | XX]}. */
	static @Nullable String readSet(Record record) {
		int count = record.argumentCount();
		boolean option = count == 4 && (record.arguments().isWord(3, "NX") || record.arguments().isWord(3, "XX"));
		if (count > 3 && !option) {
			return "JSON.SET's option '" + record.excerpt(3)
					+ "' is not supported; allowed is NX or XX after the value";
		}
		if (option || !isRoot(record, 1)) {
			record.effect(Effect.CONDITIONAL);
		}
		return null;
	}

	/** Reads {@code key path value …}. */
	static @Nullable String readMset(Record record) {
		int count = record.argumentCount();
		for (int path = 1; path < count; path += 3) {
			if (!isRoot(record, path)) {
				record.effect(Effect.ONCE);
			}
		}
		return (count % 3 == 0) ? null
				: "JSON.MSET takes triples of a key, a path and a value, not " + count + " arguments";
	}

	private static boolean isRoot(Record record, int argument) {
		return record.arguments().isWord(argument, "$") || record.arguments().isWord(argument, ".");
	}

}
