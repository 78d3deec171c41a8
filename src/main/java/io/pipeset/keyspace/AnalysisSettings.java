package io.pipeset.keyspace;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;

import io.pipeset.engine.slab.lookup.Scan;
import io.pipeset.job.settings.Allowed;
import io.pipeset.job.settings.Setting;
import org.jspecify.annotations.Nullable;

/**
 * The settings of an analysis.
 *
 * @param match the pattern of the keys; {@code null} for all
 * @param type the type of the keys; {@code null} for all
 * @param separator the bytes that end each part of a prefix
 * @param depth the parts of a prefix
 * @param top the largest keys that are listed, at most
 * @param memory whether to ask for the memory of each key
 * @param samples the elements of a key that MEMORY USAGE measures
 * @param scanCount the keys of a page of SCAN, about
 * @param rateLimit the keys that are looked at in a second; {@code null} for no limit
 * @param timeout the longest silence of Redis
 */
public record AnalysisSettings(@Nullable String match, @Nullable String type, String separator, int depth, int top,
		boolean memory, int samples, int scanCount, @Nullable Long rateLimit, Duration timeout) {

	private static final int MAX_TEXT_BYTES = 1024;

	/** Pages in a second where the pace is limited, so that it is even. */
	private static final int PAGES_A_SECOND = 20;

	private static final Pattern MODULE_TYPE = Pattern.compile("[A-Za-z0-9_-]{9}");

	private static final List<Setting<?>> ALL = new ArrayList<>();

	private static final Setting<String> MATCH = row("match", text(), null,
			"The pattern of the keys, as SCAN reads it.");

	private static final Setting<String> TYPE = row("type", typeName(), null,
			"The type of the keys, as TYPE names it.");

	private static final Setting<String> SEPARATOR = row("separator", text(), ":", "The text that ends a prefix.");

	private static final Setting<Integer> DEPTH = row("depth", Allowed.integer(1, 8), "1",
			"The separators up to which a key is its prefix.");

	private static final Setting<Integer> TOP = row("top", Allowed.integer(0, 1000), "20",
			"The largest keys that are listed, at most.");

	private static final Setting<Boolean> MEMORY = row("memory", Allowed.truth(), "true",
			"Asks for the memory of each key; without it, bytes are left out.");

	private static final Setting<Integer> SAMPLES = row("samples", Allowed.integer(1, 1000), "5",
			"The elements of a key that MEMORY USAGE measures.");

	private static final Setting<Integer> SCAN_COUNT = row("scanCount", Allowed.integer(1, 100_000), "500",
			"The keys that one SCAN asks for.");

	private static final Setting<Long> RATE_LIMIT = row("rateLimit", Allowed.number(1_000_000_000, "keys a second"),
			null, "The highest pace, spread evenly over time.");

	private static final Setting<Duration> TIMEOUT = row("timeout", Allowed.duration("1ms", "1h", "30s"), null,
			"The longest silence of Redis, and the longest time in which it may be lost.");

	public AnalysisSettings {
		DEPTH.check(depth);
		TOP.check(top);
		SAMPLES.check(samples);
		SCAN_COUNT.check(scanCount);
	}

	/**
	 * Reads the settings that a call gives.
	 * @param query takes a text from the call by its name; {@code null} if it has none
	 * @param timeout the timeout of a call that gives none
	 */
	public static AnalysisSettings of(Function<String, @Nullable String> query, Duration timeout) {
		return new AnalysisSettings(MATCH.take(query).orElse(null), TYPE.take(query).orElse(null),
				SEPARATOR.takeOrDefault(query), DEPTH.takeOrDefault(query), TOP.takeOrDefault(query),
				MEMORY.takeOrDefault(query), SAMPLES.takeOrDefault(query), SCAN_COUNT.takeOrDefault(query),
				RATE_LIMIT.take(query).orElse(null), TIMEOUT.take(query).orElse(timeout));
	}

	/**
	 * The table of the settings.
	 * @return a row for each, in the order of the documentation
	 */
	public static List<Setting<?>> all() {
		return List.copyOf(ALL);
	}

	/** The same settings at another pace. */
	AnalysisSettings at(@Nullable Long rateLimit) {
		return new AnalysisSettings(this.match, this.type, this.separator, this.depth, this.top, this.memory,
				this.samples, this.scanCount, rateLimit, this.timeout);
	}

	/**
	 * The pages to ask for: smaller ones where the pace is limited.
	 * @param masters the servers that share the pace
	 */
	Scan scan(int masters) {
		Long rate = this.rateLimit;
		int pages = PAGES_A_SECOND * Math.max(1, masters);
		int count = (rate != null) ? (int) Math.max(1, Math.min(this.scanCount, rate / pages)) : this.scanCount;
		return new Scan(this.match, this.type, count);
	}

	private static Allowed<String> text() {
		String allowed = "a text of 1 to " + MAX_TEXT_BYTES + " bytes of UTF-8";
		return Allowed.of(allowed, (text) -> {
			int bytes = text.getBytes(StandardCharsets.UTF_8).length;
			return (bytes > 0 && bytes <= MAX_TEXT_BYTES) ? text : null;
		}, Map.of("type", "string", "minLength", 1, "maxLength", MAX_TEXT_BYTES));
	}

	private static Allowed<String> typeName() {
		Allowed<String> known = Setting.TYPE.allowed();
		return Allowed.of(known.text() + ", or the 9 letters, digits, - and _ of a module's type",
				(text) -> (MODULE_TYPE.matcher(text).matches()) ? text : known.parser().apply(text),
				Map.of("anyOf", List.of(known.schema(), Map.of("type", "string", "pattern", "^" + MODULE_TYPE + "$"))));
	}

	private static <T> Setting<T> row(String name, Allowed<T> allowed, @Nullable String byDefault, String meaning) {
		Setting<T> row = Setting.of(name, "/v1/analyses", allowed, byDefault, meaning);
		ALL.add(row);
		return row;
	}

}
