package io.pipeset.record.mapping;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.pipeset.record.encoding.Excerpt;
import org.jspecify.annotations.Nullable;

/**
 * What stands between braces: a name, perhaps with steps into its value, a form and a
 * default. Where the name ends is known only with a row, because names may have dots,
 * colons and bars in them. So each place where it may end is a reading, the longest name
 * first; the first name that the row has counts, or else the last reading.
 *
 * @param separator the character between the elements of a spread text; empty for none
 */
record Value(String text, List<Reading> readings, boolean isSpread, String separator) {

	/** The most steps of a name, with dots between them: JSON nests no deeper. */
	private static final int MOST_STEPS = 64;

	private static final String CHARACTER = "(.|[\\x{10000}-\\x{10FFFF}])";

	private static final Pattern SPREAD = Pattern.compile("(?s)(.*[^.].*)\\.\\.\\.(?:\\(" + CHARACTER + "\\))?");

	/** A form whose separator has no other meaning. */
	private static final Pattern JOIN = Pattern.compile("(?s):join\\(" + CHARACTER + "\\)(?=\\||$)");

	static Value parse(String text) {
		Matcher spread = SPREAD.matcher(text);
		boolean several = spread.matches();
		String single = (several) ? spread.group(1) : text;
		String separator = (several && spread.group(2) != null) ? spread.group(2) : "";
		return new Value(text, (steps(single) > MOST_STEPS) ? List.of() : readings(single), several, separator);
	}

	/** A name that has neither form nor default, but perhaps steps. */
	static Value ofName(String name) {
		List<Reading> readings = new ArrayList<>();
		for (int end = name.length(); steps(name) <= MOST_STEPS && end > 0; end = name.lastIndexOf('.', end - 1)) {
			readings.add(new Reading(name.substring(0, end), Reading.steps(name.substring(end)), null, null));
		}
		return new Value(name, readings, false, "");
	}

	private static long steps(String text) {
		return 1 + text.chars().filter((character) -> character == '.').count();
	}

	private static List<Reading> readings(String text) {
		Matcher join = JOIN.matcher(text);
		boolean joined = join.find();
		List<Reading> readings = new ArrayList<>();
		for (int end = text.length(); end > 0; end--) {
			boolean inForm = joined && end > join.start() && end < join.end();
			Reading reading = (inForm) ? null : Reading.of(text, end);
			if (reading != null) {
				readings.add(reading);
			}
		}
		return readings;
	}

	/**
	 * Finds out whether it can be read at all.
	 * @return what is wrong with it, to follow the name of a setting; {@code null} if
	 * nothing is
	 */
	@Nullable String problem() {
		if (this.readings.isEmpty()) {
			return "has the name '" + Excerpt.of(this.text) + "' of " + steps(this.text) + " steps: a name has at most "
					+ MOST_STEPS + ", with dots between";
		}
		Reading last = this.readings.get(this.readings.size() - 1);
		if (this.isSpread && last.otherwise() != null) {
			return "has the spread '{" + Excerpt.of(this.text) + "}' with a default: a spread has none";
		}
		return (last.form() == null) ? Form.problem(this.text.replaceFirst("(?s)(\\|.*|\\.\\.\\..*)$", "")) : null;
	}

	/** Whether a row may lack it. */
	boolean mayBeMissing() {
		return otherwise() == null;
	}

	/** Its default, if it is read as having one; {@code null} for none. */
	@Nullable String otherwise() {
		return this.readings.get(this.readings.size() - 1).otherwise();
	}

	/**
	 * One place where the name may end.
	 *
	 * @param steps into the value of that name, none for the value itself
	 * @param form how the value stands for bytes; {@code null} for its text
	 * @param otherwise the default; {@code null} for none
	 */
	record Reading(String name, List<String> steps, @Nullable Form form, @Nullable String otherwise) {

		/**
		 * The reading whose name ends at an index; {@code null} if no name ends there.
		 */
		private static @Nullable Reading of(String text, int end) {
			String rest = text.substring(end);
			int bar = bar(rest);
			String otherwise = (bar < 0) ? null : rest.substring(bar + 1);
			String path = (bar < 0) ? rest : rest.substring(0, bar);
			Matcher join = JOIN.matcher(path);
			int colon = (join.find()) ? join.start() : path.lastIndexOf(':');
			Form form = (colon >= 0) ? Form.find(path.substring(colon + 1)) : null;
			String steps = (form != null) ? path.substring(0, colon) : path;
			return (steps.isEmpty() || steps.startsWith("."))
					? new Reading(text.substring(0, end), steps(steps), form, otherwise) : null;
		}

		/** The first bar that is no separator of a join. */
		private static int bar(String rest) {
			Matcher join = JOIN.matcher(rest);
			int bar = rest.indexOf('|');
			return (join.find() && bar > join.start() && bar < join.end()) ? rest.indexOf('|', join.end()) : bar;
		}

		private static List<String> steps(String path) {
			return (path.isEmpty()) ? List.of() : List.of(path.substring(1).split("\\.", -1));
		}

	}

}
