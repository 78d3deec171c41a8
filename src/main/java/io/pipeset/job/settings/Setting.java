package io.pipeset.job.settings;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

import io.pipeset.pipeline.flush.FlushPolicy;
import io.pipeset.record.Expiry;
import io.pipeset.record.Operation;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.report.DurationText;
import io.pipeset.report.Results;
import org.jspecify.annotations.Nullable;

/**
 * The table of settings, a row each, in the order of the report. A row has everything
 * about a setting but its default. Defaults are annotations of {@link JobDefaults}, so
 * that the metadata of the properties has them as well.
 *
 * @param <T> the type of its values
 * @param name its name in a query string, in a report and, with dashes, as a property
 * @param calls the paths of the calls that have it; empty for all
 * @param allowed the values that it may have
 * @param report its value in a report; {@code null} if the report leaves it out
 * @param meaning a sentence in Markdown
 */
public record Setting<T>(String name, List<String> calls, Allowed<T> allowed,
		Function<JobSettings, @Nullable Object> report, String meaning) {

	static final List<Setting<?>> ALL = new ArrayList<>();

	private static final List<String> ALL_CALLS = List.of();

	private static final String SWEEP = "/v1/jobs?from=scan";

	/** The most commands in a batch. */
	public static final Setting<Integer> BATCH_SIZE = row("batchSize", ALL_CALLS,
			Allowed.integer(1, JobSettings.MAX_BATCH_SIZE), JobSettings::batchSize,
			"The most commands in one call of `executePipelined`.");

	/** When commands are written to the socket. */
	public static final Setting<FlushPolicy> FLUSH = row("flush", ALL_CALLS,
			Allowed.of(FlushPolicy.ALLOWED, FlushPolicy::parse), JobSettings::flush,
			"When commands are written to the socket: one by one, a batch at a time, or N at a time.");

	/** The lanes. */
	public static final Setting<Integer> CONCURRENCY = row("concurrency", ALL_CALLS, Allowed.integer(1, 16),
			JobSettings::concurrency, "The lanes: pipelines that run at once, each on its own connection.");

	static final Setting<Duration> TIMEOUT = row("timeout", ALL_CALLS, Allowed.duration("1ms", "1h", "30s"),
			(settings) -> DurationText.of(settings.timeout()), "The longest silence of Redis.");

	static final Setting<Long> MAX_ERRORS = row("maxErrors", ALL_CALLS, Allowed.number(), JobSettings::maxErrors,
			"The job stops once more records than this were rejected.");

	static final Setting<Integer> RETRIES = row("retries", ALL_CALLS, Allowed.integer(0, 10), JobSettings::retries,
			"The losses of its connection to Redis that the job survives.");

	static final Setting<Integer> REPLICAS = row("replicas", ALL_CALLS, Allowed.integer(0, 5),
			(settings) -> (settings.replicas() > 0) ? settings.replicas() : null,
			"The [replicas that have to confirm](reliability.md#replicas) each batch; records that fewer confirm are `unknown`.");

	static final Setting<Duration> REPLICAS_TIMEOUT = row("replicasTimeout", ALL_CALLS,
			Allowed.duration("1ms", "1h", "30s"),
			(settings) -> (settings.replicas() > 0) ? DurationText.of(settings.replicasTimeout()) : null,
			"The time that replicas have to confirm a batch, from its last answer on.");

	static final Setting<Results> RESULTS = row("results", ALL_CALLS, Allowed.words(Results.values(), Results::label),
			JobSettings::results, "The records that the report lists; `all` adds the reply to each.");

	static final Setting<Operation> OP = row("op", List.of("/v1/jobs"),
			Allowed.of("one of " + Operation.names(), Operation::find), JobSettings::operation,
			"The operation of all records, whether they name it or not. Other records are refused.");

	static final Setting<Long> TTL = row("ttl", List.of("/v1/jobs", "/pipeset", "/pipehset"),
			Allowed.number(Expiry.MAX_SECONDS, "seconds"), JobSettings::ttl,
			"The time after which the keys that SET and HSET write expire.");

	static final Setting<Encoding> ENCODING = row("encoding", ALL_CALLS,
			Allowed.words(Encoding.values(), Encoding::label),
			(settings) -> (settings.encoding() != Encoding.UTF8) ? settings.encoding().label() : null,
			"How strings in the body and in replies stand for bytes. A record's own `encoding` wins.");

	/** The highest pace. */
	public static final Setting<Long> RATE_LIMIT = row("rateLimit", ALL_CALLS,
			Allowed.number(1_000_000_000, "commands a second"), JobSettings::rateLimit,
			"The highest pace of the job, spread evenly over time.");

	static final Setting<Atomic> ATOMIC = row("atomic", ALL_CALLS, Allowed.words(Atomic.values(), Atomic::label),
			(settings) -> (settings.isAtomic()) ? settings.atomic().label() : null,
			"With `batch`, each batch is one MULTI/EXEC, of 10,000 commands at most.");

	static final Setting<Coalesce> COALESCE = row("coalesce", ALL_CALLS,
			Allowed.words(Coalesce.values(), Coalesce::label), (settings) -> settings.coalesce().label(),
			"With `auto`, neighbouring records go as [one command](coalescing.md) where Redis can run them so.");

	static final Setting<Boolean> DRY_RUN = row("dryRun", ALL_CALLS, Allowed.truth(),
			(settings) -> (settings.dryRun()) ? true : null,
			"Reads and checks the records only: good ones are `unprocessed`, and Redis is not needed.");

	/** Whether the values of a pop stay in Redis until its caller acknowledges them. */
	public static final Setting<Boolean> RELIABLE = row("reliable", List.of("/piperpop"), Allowed.truth(),
			(settings) -> null, "Keeps the values in Redis until the caller acknowledges them.");

	/** The time that the caller of such a pop has to acknowledge its values. */
	public static final Setting<Duration> RECEIPT_TTL = row("receiptTtl", List.of("/piperpop"),
			Allowed.duration("1s", "24h", "90s"), (settings) -> null,
			"The time that the caller of a reliable pop has to acknowledge its values.");

	/** The place where a job finds its records, if no body has them. */
	public static final Setting<String> FROM = row("from", List.of(SWEEP), Allowed.words("scan"), (settings) -> null,
			"Makes the keys that SCAN finds the records: see [sweeps](sweeps.md).");

	/** The names of the keys that are the records. */
	public static final Setting<String> MATCH = row("match", List.of(SWEEP),
			Allowed.of("a glob-style pattern such as cache:*", (text) -> (text.isEmpty()) ? null : text),
			(settings) -> null, "The pattern of the keys. A sweep has to have it, if only `*`.");

	/** The type of the keys that are the records. */
	public static final Setting<String> TYPE = row("type", List.of(SWEEP),
			Allowed.words("string", "list", "set", "zset", "hash", "stream"), (settings) -> null,
			"Leaves out the keys of other types.");

	/** The number of keys that are the records. */
	public static final Setting<Long> LIMIT = row("limit", List.of(SWEEP), Allowed.number(1_000_000_000_000L, "keys"),
			(settings) -> null, "The sweep ends after so many keys.");

	private static <T> Setting<T> row(String name, List<String> calls, Allowed<T> allowed,
			Function<JobSettings, @Nullable Object> report, String meaning) {
		Setting<T> row = new Setting<>(name, calls, allowed, report, meaning);
		ALL.add(row);
		return row;
	}

	/**
	 * The names of the settings that a call has, its special ones first.
	 * @param path the path of the call, as in the table
	 * @return the names
	 */
	public static List<String> names(String path) {
		return ALL.stream()
			.filter((row) -> row.isFor(path))
			.sorted(Comparator.comparing((row) -> row.calls.isEmpty()))
			.map(Setting::name)
			.toList();
	}

	boolean isFor(String path) {
		return this.calls.isEmpty() || this.calls.contains(path);
	}

	/**
	 * The value that a call gives to this setting.
	 * @param query takes a text from the call by its name; {@code null} if it has none
	 * @return the value, or nothing
	 * @throws InvalidSettingException if the value is not allowed
	 */
	public Optional<T> take(Function<String, @Nullable String> query) {
		return Optional.ofNullable(query.apply(this.name)).map(this::parse);
	}

	T parse(String text) {
		T value = this.allowed.parser().apply(text);
		if (value == null) {
			throw refused(this.allowed.text(), Excerpt.of(text));
		}
		return value;
	}

	/**
	 * Checks that a value is within the bounds of this setting.
	 * @param value the value; {@code null} for none, which is always allowed
	 * @throws InvalidSettingException if it is not
	 */
	public void check(@Nullable T value) {
		if (value != null && !this.allowed.within().test(value)) {
			throw refused(this.allowed.bounds(), value);
		}
	}

	InvalidSettingException refused(String allowed, Object value) {
		return new InvalidSettingException(this.name, "must be " + allowed + ", not '" + value + "'");
	}

}
