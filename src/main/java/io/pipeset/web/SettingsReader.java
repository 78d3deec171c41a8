package io.pipeset.web;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

import io.pipeset.job.Atomic;
import io.pipeset.job.InvalidSettingException;
import io.pipeset.job.JobDefaults;
import io.pipeset.job.JobInput.ReliablePops;
import io.pipeset.job.JobSettings;
import io.pipeset.pipeline.FlushPolicy;
import io.pipeset.record.Encoding;
import io.pipeset.record.Excerpt;
import io.pipeset.record.Expiry;
import io.pipeset.record.Operation;
import io.pipeset.report.Results;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.convert.DurationStyle;
import org.springframework.stereotype.Component;

/** A job's settings from the query string of its request. */
@Component
class SettingsReader {

	private static final List<String> COMMON = List.of("batchSize", "flush", "concurrency", "timeout", "maxErrors",
			"retries", "results", "encoding", "rateLimit", "atomic", "dryRun");

	private static final Set<Operation> WITH_TTL = Set.of(Operation.SET, Operation.HSET);

	/** Settings that only reliable pops have. */
	private static final Set<String> OF_POPS = Set.of("reliable", "receiptTtl");

	private final JobSettings defaults;

	SettingsReader(JobDefaults defaults) {
		this.defaults = defaults.toSettings();
	}

	/**
	 * Reads the settings of a job whose records may be of any operation.
	 * @param query what is not taken yet; all of it is afterwards
	 * @return the settings in effect
	 */
	JobSettings read(Query query) {
		JobSettings settings = withTtl(common(query), query);
		Optional<Operation> operation = take(query, "op", Operation::find, "one of " + Operation.names());
		refuseRest(query, "op", "ttl");
		return operation.map(settings::withOnly).orElse(settings);
	}

	/**
	 * Reads the settings of a job whose path says the operation.
	 * @param query what is not taken yet; all of it is afterwards
	 * @param operation the operation of all records
	 * @param taken the parameters of this path that are taken already
	 * @return the settings in effect
	 */
	JobSettings read(Query query, Operation operation, String... taken) {
		JobSettings settings = common(query).withOnly(operation);
		if (WITH_TTL.contains(operation)) {
			settings = withTtl(settings, query);
			refuseRest(query, "ttl");
		}
		else {
			settings = settings.withTtl(null);
			refuseRest(query, taken);
		}
		return settings;
	}

	/**
	 * Reads whether pops are to be reliable.
	 * @param query from which it is taken
	 * @return how long a receipt is to last, or {@code null} where there is to be none
	 */
	@Nullable Duration receiptTtl(Query query) {
		boolean reliable = take(query, "reliable", SettingsReader::truth, "true or false").orElse(false);
		Optional<Duration> ttl = take(query, "receiptTtl",
				(text) -> duration(text, ReliablePops.MIN_RECEIPT_TTL, ReliablePops.MAX_RECEIPT_TTL),
				"a duration from 1s to 24h such as 90s or PT90S");
		if (ttl.isPresent() && !reliable) {
			throw Problems.badRequest("invalid-setting", "'receiptTtl' has a meaning only with reliable=true");
		}
		return (reliable) ? ttl.orElse(ReliablePops.DEFAULT_RECEIPT_TTL) : null;
	}

	private static JobSettings withTtl(JobSettings settings, Query query) {
		Optional<Long> ttl = take(query, "ttl", (text) -> bounded(text, JobSettings.MAX_TTL), Expiry.ALLOWED);
		return (ttl.isPresent()) ? settings.withTtl(ttl.get()) : settings;
	}

	private JobSettings common(Query query) {
		JobSettings base = this.defaults;
		Atomic atomic = take(query, "atomic", Atomic::find, "none or batch").orElse(base.atomic());
		int most = (atomic == Atomic.BATCH) ? JobSettings.MAX_ATOMIC_BATCH_SIZE : JobSettings.MAX_BATCH_SIZE;
		int batchSize = take(query, "batchSize", SettingsReader::integer,
				"a whole number from 1 to " + JobSettings.MAX_BATCH_SIZE)
			.orElse(Math.min(base.batchSize(), most));
		FlushPolicy flush = take(query, "flush", FlushPolicy::parse, FlushPolicy.ALLOWED).orElse(base.flush());
		int concurrency = take(query, "concurrency", SettingsReader::integer,
				"a whole number from 1 to " + JobSettings.MAX_CONCURRENCY)
			.orElse(base.concurrency());
		Duration timeout = take(query, "timeout",
				(text) -> duration(text, Duration.ofMillis(1), JobSettings.MAX_TIMEOUT),
				"a duration from 1ms to 1h such as 30s or PT30S")
			.orElse(base.timeout());
		Long maxErrors = take(query, "maxErrors", SettingsReader::number, "a whole number of 0 or more")
			.orElse(base.maxErrors());
		int retries = take(query, "retries", SettingsReader::integer,
				"a whole number from 0 to " + JobSettings.MAX_RETRIES)
			.orElse(base.retries());
		Results results = take(query, "results", SettingsReader::results, "errors, all or none").orElse(base.results());
		Encoding encoding = take(query, "encoding", Encoding::find, "utf8 or base64").orElse(base.encoding());
		Long rateLimit = take(query, "rateLimit", (text) -> bounded(text, JobSettings.MAX_RATE_LIMIT),
				"a whole number of commands a second from 1 to " + JobSettings.MAX_RATE_LIMIT)
			.orElse(base.rateLimit());
		boolean dryRun = take(query, "dryRun", SettingsReader::truth, "true or false").orElse(base.dryRun());
		try {
			return new JobSettings(batchSize, flush, concurrency, timeout, maxErrors, retries, results,
					base.operation(), base.only(), base.ttl(), encoding, rateLimit, atomic, dryRun);
		}
		catch (InvalidSettingException ex) {
			throw Problems.badRequest("invalid-setting", "'" + ex.setting() + "' " + ex.problem());
		}
	}

	private static <T> Optional<T> take(Query query, String name, Function<String, @Nullable T> parser,
			String allowed) {
		String text = query.take(name);
		if (text == null) {
			return Optional.empty();
		}
		Optional<T> value = Optional.ofNullable(parser.apply(text));
		if (value.isEmpty()) {
			throw Problems.badRequest("invalid-setting",
					"'" + name + "' must be " + allowed + ", not '" + Excerpt.of(text) + "'");
		}
		return value;
	}

	/**
	 * Refuses any parameter.
	 * @param query what is left of a query string
	 */
	static void refuseAll(Query query) {
		for (String name : query.rest()) {
			throw Problems.badRequest("unknown-setting",
					"There is no setting '" + Excerpt.of(name) + "' here, nor any other");
		}
	}

	private static void refuseRest(Query query, String... alsoAllowed) {
		for (String name : query.rest()) {
			Set<String> allowed = new LinkedHashSet<>(Arrays.asList(alsoAllowed));
			allowed.addAll(COMMON);
			String names = String.join(", ", allowed);
			if (OF_POPS.contains(name)) {
				throw Problems.badRequest("not-available",
						"The setting '" + name + "' is for POST /piperpop only; available here are " + names);
			}
			throw Problems.badRequest("unknown-setting",
					"There is no setting '" + Excerpt.of(name) + "' here; available are " + names);
		}
	}

	static @Nullable Long number(String text) {
		return (text.matches("[0-9]{1,18}")) ? Long.valueOf(text) : null;
	}

	private static @Nullable Long bounded(String text, long most) {
		Long number = number(text);
		return (number != null && number >= 1 && number <= most) ? number : null;
	}

	private static @Nullable Integer integer(String text) {
		return (text.matches("[0-9]{1,9}")) ? Integer.valueOf(text) : null;
	}

	private static @Nullable Boolean truth(String text) {
		return (text.equals("true") || text.equals("false")) ? Boolean.valueOf(text) : null;
	}

	private static @Nullable Duration duration(String text, Duration least, Duration most) {
		try {
			DurationStyle style = DurationStyle.detect(text);
			Duration duration = (style == DurationStyle.SIMPLE && number(text) != null) ? Duration.ZERO
					: style.parse(text);
			// Held here against the bounds too, so that the refusal quotes what was sent.
			boolean allowed = duration.compareTo(least) >= 0 && duration.compareTo(most) <= 0;
			return (allowed) ? duration : null;
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			return null;
		}
	}

	private static @Nullable Results results(String text) {
		return Arrays.stream(Results.values()).filter((value) -> value.label().equals(text)).findFirst().orElse(null);
	}

}
