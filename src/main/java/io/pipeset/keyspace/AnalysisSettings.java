package io.pipeset.keyspace;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;

import io.pipeset.engine.pipeline.call.KeyFilter;
import io.pipeset.request.Allowed;
import io.pipeset.request.Setting;
import org.jspecify.annotations.Nullable;

/**
 * The settings of an analysis.
 *
 * @param match the pattern of the keys; {@code null} for all
 * @param type the type of the keys; {@code null} for all
 * @param separator the text that ends each part of a prefix
 * @param depth how many parts a prefix has
 * @param top how many of the largest keys are listed
 * @param memory whether to query the memory of each key
 * @param samples how many elements of a key MEMORY USAGE samples
 * @param scanCount the COUNT of SCAN: about how many keys a page has
 * @param rateLimit the most keys per second; {@code null} for no limit
 * @param timeout how long to wait for a reply before the connection counts as lost
 */
public record AnalysisSettings(@Nullable String match, @Nullable String type, String separator, int depth, int top,
		boolean memory, int samples, int scanCount, @Nullable Long rateLimit, Duration timeout) {

	private static final int MAX_TEXT_BYTES = 1024;

	/** Pages per second if the rate is limited. Small pages spread the load evenly. */
	private static final int PAGES_A_SECOND = 20;

	private static final Pattern MODULE_TYPE = Pattern.compile("[A-Za-z0-9_-]{9}");

	private static final List<Setting<?>> ALL = new ArrayList<>();

	private static final Setting<String> MATCH = row("match", text(), null,
			"The pattern of the keys, as SCAN reads it.");

	private static final Setting<String> TYPE = row("type", typeName(), null,
			"The type of the keys, as TYPE names it.");

	private static final Setting<String> SEPARATOR = row("separator", text(), ":", "The text that ends a prefix.");

	private static final Setting<Integer> DEPTH = row("depth", Allowed.integer(1, 8), "1",
			"How many separators a prefix has. A key with fewer has no prefix.");

	private static final Setting<Integer> TOP = row("top", Allowed.integer(0, 1000), "20",
			"The largest keys that are listed, at most.");

	private static final Setting<Boolean> MEMORY = row("memory", Allowed.truth(), "true",
			"Asks for the memory of each key; without it, bytes are left out.");

	private static final Setting<Integer> SAMPLES = row("samples", Allowed.integer(1, 1000), "5",
			"The elements of a key that MEMORY USAGE measures.");

	private static final Setting<Integer> SCAN_COUNT = row("scanCount", Allowed.integer(1, 100_000), "500",
			"The keys that one SCAN asks for.");

	private static final Setting<Long> RATE_LIMIT = row("rateLimit", Allowed.number(1_000_000_000, "keys per second"),
			null, "The most keys that the analysis reads per second, spread evenly.");

	private static final Setting<Duration> TIMEOUT = row("timeout", Allowed.duration("1ms", "1h", "30s"), null,
			"How long to wait for a reply before the connection counts as lost, and how long to retry without progress.");

	public AnalysisSettings {
		DEPTH.check(depth);
		TOP.check(top);
		SAMPLES.check(samples);
		SCAN_COUNT.check(scanCount);
	}

	/**
	 * Reads the settings of a request.
	 * @param query returns a parameter's text by its name; {@code null} if the request
	 * does not have it
	 * @param timeout the timeout if the request has none
	 */
	public static AnalysisSettings of(Function<String, @Nullable String> query, Duration timeout) {
		return new AnalysisSettings(MATCH.take(query).orElse(null), TYPE.take(query).orElse(null),
				SEPARATOR.takeOrDefault(query), DEPTH.takeOrDefault(query), TOP.takeOrDefault(query),
				MEMORY.takeOrDefault(query), SAMPLES.takeOrDefault(query), SCAN_COUNT.takeOrDefault(query),
				RATE_LIMIT.take(query).orElse(null), TIMEOUT.take(query).orElse(timeout));
	}

	/**
	 * All settings of an analysis.
	 * @return one entry per setting, in the order of the documentation
	 */
	public static List<Setting<?>> all() {
		return List.copyOf(ALL);
	}

	/** The same settings with another rate limit. */
	AnalysisSettings withRateLimit(@Nullable Long rateLimit) {
		return new AnalysisSettings(this.match, this.type, this.separator, this.depth, this.top, this.memory,
				this.samples, this.scanCount, rateLimit, this.timeout);
	}

	/** The keys that SCAN returns. */
	KeyFilter filter() {
		return new KeyFilter((this.match != null) ? this.match : "*", this.type);
	}

	/**
	 * The COUNT of SCAN, which is smaller if the rate is limited.
	 * @param masters how many servers share the rate
	 */
	int pageKeys(int masters) {
		Long rate = this.rateLimit;
		int pages = PAGES_A_SECOND * Math.max(1, masters);
		return (rate != null) ? (int) Math.max(1, Math.min(this.scanCount, rate / pages)) : this.scanCount;
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

	private static <T> Setting<T> row(String name, Allowed<T> allowed, @Nullable String defaultValue, String meaning) {
		Setting<T> row = Setting.of(name, "/v1/analyses", allowed, defaultValue, meaning);
		ALL.add(row);
		return row;
	}

}
