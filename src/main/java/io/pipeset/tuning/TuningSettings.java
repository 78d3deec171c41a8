package io.pipeset.tuning;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.job.JobLimits;
import io.pipeset.job.settings.Allowed;
import io.pipeset.job.settings.InvalidSettingException;
import io.pipeset.job.settings.JobDefaults;
import io.pipeset.job.settings.Setting;
import io.pipeset.record.Operation;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.report.DurationText;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a tuning.
 *
 * @param operation the operation of all records
 * @param records the records of a run
 * @param valueBytes the size of each record's value, in bytes
 * @param grid the rows, in the order of the lists they are built from
 * @param runs the measured runs of each row
 * @param budget the time after which no further run begins
 */
public record TuningSettings(Operation operation, int records, int valueBytes, List<RowSettings> grid, int runs,
		Duration budget) {

	static final int MAX_ROWS = 200;

	private static final Set<Operation> OPERATIONS = Set.of(Operation.SET, Operation.HSET, Operation.LPUSH);

	private static final List<Setting<?>> ALL = new ArrayList<>();

	private static final Setting<Operation> OP = setting("op", operations(), "SET", "The operation of all records.");

	private static final Setting<Integer> RECORDS = setting("records", Allowed.integer(1_000, 1_000_000), "100000",
			"The records of a run.");

	private static final Setting<Integer> VALUE_BYTES = setting("valueBytes", Allowed.integer(1, 1_000_000), "13",
			"The size of each record's value.");

	private static final Setting<String> BATCH_SIZES = list("batchSizes", Setting.BATCH_SIZE, "1000,10000,100000");

	private static final Setting<String> FLUSHES = list("flushes", Setting.FLUSH, "buffered:100,buffered:1000");

	private static final Setting<String> CONCURRENCIES = list("concurrencies", Setting.CONCURRENCY, "1,2");

	private static final Setting<Integer> RUNS = setting("runs", Allowed.integer(1, 10), "3",
			"The measured runs of each row.");

	private static final Setting<Duration> BUDGET = setting("budget", Allowed.duration("1s", "10m", "30s"), "30s",
			"The time after which no further run begins.");

	/**
	 * All parameters of a tuning.
	 * @return one entry per parameter, in the order of the documentation
	 */
	public static List<Setting<?>> all() {
		return List.copyOf(ALL);
	}

	/**
	 * Reads the parameters of a request.
	 * @param query returns a parameter's text by its name; {@code null} if the request
	 * does not have it
	 * @param properties bounds the data of a run
	 * @param limits bounds the records and values
	 * @param defaults the default settings of jobs, which are a row of the default grid
	 * @return the parameters, with defaults for those that the request does not have
	 * @throws InvalidSettingException if a value is not allowed
	 */
	public static TuningSettings read(Function<String, @Nullable String> query, TuningProperties properties,
			JobLimits limits, JobDefaults defaults) {
		String batchSizes = query.apply(BATCH_SIZES.name());
		String flushes = query.apply(FLUSHES.name());
		String concurrencies = query.apply(CONCURRENCIES.name());
		List<RowSettings> grid = grid(values(BATCH_SIZES, Setting.BATCH_SIZE.allowed(), batchSizes),
				values(FLUSHES, Setting.FLUSH.allowed(), flushes),
				values(CONCURRENCIES, Setting.CONCURRENCY.allowed(), concurrencies));
		RowSettings defaultValue = RowSettings.of(defaults);
		if (batchSizes == null && flushes == null && concurrencies == null && !grid.contains(defaultValue)) {
			grid.add(defaultValue);
		}
		TuningSettings settings = new TuningSettings(value(query, OP), value(query, RECORDS), value(query, VALUE_BYTES),
				grid, value(query, RUNS), value(query, BUDGET));
		settings.check(properties, limits);
		return settings;
	}

	private void check(TuningProperties properties, JobLimits limits) {
		requireAtMost("records", this.records, limits.maxGenerated(), "pipeset.limits.max-generated");
		requireAtMost("valueBytes", this.valueBytes, limits.maxValueBytes().toBytes(),
				"pipeset.limits.max-value-bytes");
		long most = properties.maxBytes().toBytes() / this.valueBytes;
		if (this.records > most) {
			throw new InvalidSettingException("records",
					"times 'valueBytes' must be no more than " + properties.maxBytes().toBytes()
							+ " bytes (pipeset.tuning.max-bytes), not " + (long) this.records * this.valueBytes);
		}
	}

	private static void requireAtMost(String name, long value, long most, String property) {
		if (value > most) {
			throw new InvalidSettingException(name,
					"must be no more than " + most + " (" + property + "), not " + value);
		}
	}

	private static List<RowSettings> grid(List<Integer> batchSizes, List<FlushPolicy> flushes,
			List<Integer> concurrencies) {
		int rows = batchSizes.size() * flushes.size() * concurrencies.size();
		if (rows > MAX_ROWS) {
			throw new InvalidSettingException("batchSizes",
					"times flushes times concurrencies must be no more than " + MAX_ROWS + " rows, not " + rows);
		}
		List<RowSettings> grid = new ArrayList<>();
		for (int batchSize : batchSizes) {
			for (FlushPolicy flush : flushes) {
				for (int concurrency : concurrencies) {
					grid.add(new RowSettings(batchSize, flush, concurrency));
				}
			}
		}
		return grid;
	}

	/**
	 * These settings for the report, without the lists of the grid, which its rows show.
	 */
	Map<String, Object> toReport() {
		Map<String, Object> report = new LinkedHashMap<>();
		report.put("op", this.operation.toString());
		report.put("records", this.records);
		report.put("valueBytes", this.valueBytes);
		report.put("runs", this.runs);
		report.put("budget", DurationText.of(this.budget));
		return report;
	}

	private static Allowed<Operation> operations() {
		return Allowed.of("SET, HSET or LPUSH", (text) -> {
			Operation found = Operation.find(text);
			return (found != null && OPERATIONS.contains(found)) ? found : null;
		}, Map.of("type", "string", "enum", List.of("SET", "HSET", "LPUSH")));
	}

	private static Setting<String> list(String name, Setting<?> entry, String defaultValue) {
		return setting(name, Allowed.of("a comma-separated list of values of `" + entry.name() + "`", (text) -> text),
				defaultValue, "The values of `" + entry.name() + "` in the grid.");
	}

	private static <T> Setting<T> setting(String name, Allowed<T> allowed, String defaultValue, String meaning) {
		Setting<T> row = Setting.of(name, "/v1/tunings", allowed, defaultValue, meaning);
		ALL.add(row);
		return row;
	}

	private static <T> T value(Function<String, @Nullable String> query, Setting<T> row) {
		String given = query.apply(row.name());
		String text = (given != null) ? given : String.valueOf(row.defaultValue());
		T value = parse(row.allowed(), text);
		if (value == null) {
			throw new InvalidSettingException(row.name(),
					"must be " + row.allowed().text() + ", not '" + Excerpt.of(text) + "'");
		}
		return value;
	}

	private static <T> List<T> values(Setting<String> row, Allowed<T> allowed, @Nullable String given) {
		String name = row.name();
		List<T> values = new ArrayList<>();
		for (String text : ((given != null) ? given : String.valueOf(row.defaultValue())).split(",", -1)) {
			T value = parse(allowed, text);
			if (value == null) {
				throw new InvalidSettingException(name, "must be a comma-separated list, each entry " + allowed.text()
						+ ", not '" + Excerpt.of(text) + "'");
			}
			if (values.contains(value)) {
				throw new InvalidSettingException(name, "must not have '" + Excerpt.of(text) + "' more than once");
			}
			if (values.size() == MAX_ROWS) {
				throw new InvalidSettingException(name, "must have no more than " + MAX_ROWS + " entries");
			}
			values.add(value);
		}
		return values;
	}

	private static <T> @Nullable T parse(Allowed<T> allowed, String text) {
		T value = allowed.parser().apply(text);
		return (value != null && allowed.within().test(value)) ? value : null;
	}

}
