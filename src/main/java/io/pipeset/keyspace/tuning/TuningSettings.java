package io.pipeset.keyspace.tuning;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.record.Operation;
import io.pipeset.report.DurationText;
import io.pipeset.request.Allowed;
import io.pipeset.request.InvalidSettingException;
import io.pipeset.request.JobDefaults;
import io.pipeset.request.Setting;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a tuning.
 *
 * @param operation the operation of all records
 * @param records the records of a run
 * @param valueBytes the size of each record's value, in bytes
 * @param lists the lists of the grid that the request has, by their names
 * @param grid the rows, in the order of the lists they are built from
 * @param runs the measured runs of each row
 * @param budget the time after which no further run begins
 */
public record TuningSettings(Operation operation, int records, int valueBytes, Map<String, String> lists,
		List<RowSettings> grid, int runs, Duration budget) {

	private static final int MAX_ROWS = 200;

	private static final List<Setting<?>> ALL = new ArrayList<>();

	private static final Setting<Operation> OP = setting("op",
			Allowed.of("SET, HSET or LPUSH", (text) -> (text.matches("SET|HSET|LPUSH")) ? Operation.find(text) : null,
					Map.of("type", "string", "enum", List.of("SET", "HSET", "LPUSH"))),
			"SET", "The operation of all records.");

	private static final Setting<Integer> RECORDS = setting("records", Allowed.integer(1_000, 1_000_000), "100000",
			"The records of a run.");

	private static final Setting<Integer> VALUE_BYTES = setting("valueBytes", Allowed.integer(1, 1_000_000), "13",
			"The size of each record's value.");

	private static final Setting<List<Integer>> BATCH_SIZES = list("batchSizes", Setting.BATCH_SIZE,
			"1000,10000,100000");

	private static final Setting<List<FlushPolicy>> FLUSHES = list("flushes", Setting.FLUSH,
			"buffered:100,buffered:1000");

	private static final Setting<List<Integer>> CONCURRENCIES = list("concurrencies", Setting.CONCURRENCY, "1,2");

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
	 * @param defaults the default settings of jobs, which are a row of the default grid
	 * @return the parameters, with defaults for those that the request does not have
	 * @throws InvalidSettingException if a value is not allowed
	 */
	public static TuningSettings read(Function<String, @Nullable String> query, TuningProperties properties,
			JobDefaults defaults) {
		Map<String, String> lists = new LinkedHashMap<>();
		for (Setting<?> list : List.of(BATCH_SIZES, FLUSHES, CONCURRENCIES)) {
			String text = query.apply(list.name());
			if (text != null) {
				lists.put(list.name(), text);
			}
		}
		int records = RECORDS.takeOrDefault(query);
		int valueBytes = VALUE_BYTES.takeOrDefault(query);
		int runs = RUNS.takeOrDefault(query);
		RECORDS.check(records);
		VALUE_BYTES.check(valueBytes);
		RUNS.check(runs);
		long most = properties.maxBytes().toBytes();
		if ((long) records * valueBytes > most) {
			throw new InvalidSettingException("records", "times 'valueBytes' must be no more than " + most
					+ " bytes (pipeset.tuning.max-bytes), not " + (long) records * valueBytes);
		}
		return new TuningSettings(OP.takeOrDefault(query), records, valueBytes, lists, grid(records, lists, defaults),
				runs, BUDGET.takeOrDefault(query));
	}

	/** The rows, of which those with the same effect are one. */
	private static List<RowSettings> grid(int records, Map<String, String> lists, JobDefaults defaults) {
		List<RowSettings> rows = new ArrayList<>();
		for (int batchSize : BATCH_SIZES.takeOrDefault(lists::get)) {
			for (FlushPolicy flush : FLUSHES.takeOrDefault(lists::get)) {
				for (int concurrency : CONCURRENCIES.takeOrDefault(lists::get)) {
					rows.add(new RowSettings(batchSize, flush, concurrency));
				}
			}
		}
		if (lists.isEmpty()) {
			rows.add(RowSettings.of(defaults));
		}
		Map<RowSettings, RowSettings> grid = new LinkedHashMap<>();
		rows.forEach((row) -> grid.putIfAbsent(row.effective(records), row));
		if (grid.size() > MAX_ROWS) {
			throw new InvalidSettingException("batchSizes",
					"times flushes times concurrencies must be no more than " + MAX_ROWS + " rows, not " + grid.size());
		}
		return List.copyOf(grid.values());
	}

	/** These settings for the report. */
	Map<String, Object> toReport() {
		Map<String, Object> report = new LinkedHashMap<>();
		report.put("op", this.operation.toString());
		report.put("records", this.records);
		report.put("valueBytes", this.valueBytes);
		report.putAll(this.lists);
		report.put("runs", this.runs);
		report.put("budget", DurationText.of(this.budget));
		return report;
	}

	private static <T> Setting<List<T>> list(String name, Setting<T> entry, String defaultValue) {
		Allowed<T> allowed = entry.allowed();
		return setting(name, Allowed.of("a comma-separated list, each entry " + allowed.text(), (list) -> {
			List<T> values = new ArrayList<>();
			for (String text : list.split(",", -1)) {
				T value = allowed.parser().apply(text);
				if (value == null || !allowed.within().test(value)) {
					return null;
				}
				values.add(value);
			}
			return values;
		}), defaultValue, "The values of `" + entry.name() + "` in the grid.");
	}

	private static <T> Setting<T> setting(String name, Allowed<T> allowed, String defaultValue, String meaning) {
		Setting<T> row = Setting.of(name, "/v1/tunings", allowed, defaultValue, meaning);
		ALL.add(row);
		return row;
	}

}
