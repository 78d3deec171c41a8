package io.pipeset.request;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.record.Durations;
import org.jspecify.annotations.Nullable;

/**
 * The values that a setting may have.
 *
 * @param text describes the values, for messages about a text that is none of them
 * @param parser parses a text; returns {@code null} if it is none of the values
 * @param bounds describes the bounds, for messages about a value that is out of bounds
 * @param within whether a value is within the bounds
 * @param schema the keywords of a <a href="https://json-schema.org/">JSON Schema</a> of
 * the values. For strings, it may allow more values than the parser
 */
public record Allowed<T>(String text, Function<String, @Nullable T> parser, String bounds, Predicate<T> within,
		Map<String, Object> schema) {

	private static final Map<String, Object> TEXT = Map.of("type", "string");

	private static final String DURATION = "^([0-9]{1,18}([Mm][Ss]|[DdHhMmSs])|[Pp][0-9DdTtHhMmSs.,]+)$";

	/** The largest number that {@link #number(String)} parses. */
	private static final long LARGEST = 999_999_999_999_999_999L;

	/**
	 * All values that a parser accepts.
	 * @param parser parses a text; returns {@code null} if it is none of the values
	 */
	public static <T> Allowed<T> of(String text, Function<String, @Nullable T> parser) {
		return of(text, parser, TEXT);
	}

	/**
	 * All values that a parser accepts.
	 * @param parser parses a text; returns {@code null} if it is none of the values
	 * @param schema the keywords of a JSON Schema of the values
	 */
	public static <T> Allowed<T> of(String text, Function<String, @Nullable T> parser, Map<String, Object> schema) {
		return new Allowed<>(text, parser, text, (value) -> true, schema);
	}

	static <T> Allowed<T> words(T[] values, Function<T, String> label) {
		String words = Stream.of(values).map(label).collect(Collectors.joining(", "));
		return of(words.replaceFirst(", (\\w+)$", " or $1"),
				(text) -> Stream.of(values).filter((value) -> label.apply(value).equals(text)).findFirst().orElse(null),
				Map.of("type", "string", "enum", Stream.of(values).map(label).toList()));
	}

	static Allowed<String> words(String... words) {
		return words(words, (word) -> word);
	}

	/**
	 * Booleans.
	 * @return the values {@code true} and {@code false}
	 */
	public static Allowed<Boolean> truth() {
		Allowed<Boolean> words = words(new Boolean[] { true, false }, String::valueOf);
		return of(words.text, words.parser, Map.of("type", "boolean"));
	}

	/**
	 * Whole numbers.
	 * @param least the lowest value, 0 or more
	 * @param most the highest value, of at most nine digits
	 * @return the values; only {@link #within} checks the bounds, not the parser
	 */
	public static Allowed<Integer> integer(int least, int most) {
		String bounds = least + " to " + most;
		return new Allowed<>("a whole number from " + bounds,
				(text) -> (isDigits(text, 9)) ? Integer.valueOf(text) : null, bounds,
				(value) -> value >= least && value <= most, whole(least, most));
	}

	/** Whole percentages from 0, with or without a percent sign. */
	static Allowed<Integer> percent(int most) {
		String bounds = "0 to " + most + " percent";
		return bounded(bounds + ", such as 10 or 10%", (text) -> {
			String digits = (text.endsWith("%")) ? text.substring(0, text.length() - 1) : text;
			return (isDigits(digits, 9)) ? Integer.valueOf(digits) : null;
		}, bounds, (value) -> value >= 0 && value <= most,
				Map.of("anyOf", List.of(whole(0, most), Map.of("type", "string", "pattern", "^[0-9]{1,9}%$"))));
	}

	/**
	 * Whole numbers without an upper bound.
	 * @param least the lowest value, 0 or more
	 */
	public static Allowed<Long> atLeast(long least) {
		String bounds = least + " or more";
		return new Allowed<>("a whole number of " + bounds, Allowed::number, bounds, (value) -> value >= least,
				whole(least, LARGEST));
	}

	/**
	 * Whole numbers from 1.
	 * @param unit what the numbers count, for messages
	 */
	public static Allowed<Long> number(long most, String unit) {
		String bounds = "1 to " + most;
		return bounded("a whole number of " + unit + " from " + bounds, Allowed::number, bounds + " " + unit,
				(value) -> value >= 1 && value <= most, whole(1, most));
	}

	/**
	 * Durations.
	 * @param least the shortest duration, such as 1ms
	 * @param most the longest duration
	 * @param example an example for messages
	 */
	public static Allowed<Duration> duration(String least, String most, String example) {
		Duration from = Objects.requireNonNull(Durations.parse(least));
		Duration to = Objects.requireNonNull(Durations.parse(most));
		String bounds = least + " to " + most;
		return bounded(
				"a duration from " + bounds + " such as " + example + " or PT" + example.toUpperCase(Locale.ROOT),
				Durations::parse, bounds, (value) -> value.compareTo(from) >= 0 && value.compareTo(to) <= 0,
				Map.of("type", "string", "pattern", DURATION));
	}

	/** Values whose parser also checks the bounds, so that a message quotes the text. */
	private static <T> Allowed<T> bounded(String text, Function<String, @Nullable T> parser, String bounds,
			Predicate<T> within, Map<String, Object> schema) {
		return new Allowed<>(text, (value) -> {
			T parsed = parser.apply(value);
			return (parsed != null && within.test(parsed)) ? parsed : null;
		}, bounds, within, schema);
	}

	private static Map<String, Object> whole(long least, long most) {
		return Map.of("type", "integer", "format", (most > Integer.MAX_VALUE) ? "int64" : "int32", "minimum", least,
				"maximum", most);
	}

	/**
	 * Parses a whole number.
	 * @return the number, or {@code null} if the text is not 1 to 18 digits
	 */
	public static @Nullable Long number(String text) {
		return (isDigits(text, 18)) ? Long.valueOf(text) : null;
	}

	private static boolean isDigits(String text, int most) {
		for (int i = 0; i < text.length(); i++) {
			if (text.charAt(i) < '0' || text.charAt(i) > '9') {
				return false;
			}
		}
		return !text.isEmpty() && text.length() <= most;
	}

}
