package io.pipeset.request;

import java.net.URI;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.record.Description;
import io.pipeset.record.Effect;
import io.pipeset.record.Operation;
import io.pipeset.record.OperationFinder;
import io.pipeset.record.Record;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.Rejection;
import io.pipeset.record.Timestamps;
import io.pipeset.record.body.FormatHints;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.mapping.FieldTemplate;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.record.mapping.Names;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Templates;
import io.pipeset.report.Results;
import org.jspecify.annotations.Nullable;

/**
 * The settings in effect for a job. {@link Setting} has the bounds of each value. The
 * settings of reliable pops and of sweeps are not here.
 */
public record JobSettings(Batching batching, Reliability reliability, Pace pace, Reporting reporting, Records records,
		Check check) {

	/** The operation of records that name none, in the texts of {@link #toRowTexts}. */
	public static final String DEFAULT_OP = "defaultOp";

	static final int MAX_BATCH_SIZE = 100_000;

	private static final int MAX_ATOMIC_BATCH_SIZE = 10_000;

	/** The operations whose keys a setting may expire. */
	private static final Set<Operation> EXPIRING = Set.of(Operation.SET, Operation.HSET);

	private static final int MAX_MARKED_BATCH_SIZE = 500;

	/** The lanes of a job with {@code exactlyOnce}, each of which waits for its batch. */
	private static final int MARKED_LANES = 4;

	static int maxBatchSize(Atomic atomic, boolean exactlyOnce) {
		return (exactlyOnce) ? MAX_MARKED_BATCH_SIZE
				: (atomic == Atomic.BATCH) ? MAX_ATOMIC_BATCH_SIZE : MAX_BATCH_SIZE;
	}

	/**
	 * These settings, overridden by those of a call.
	 * @param query returns and removes the next text of a setting by its name;
	 * {@code null} if the call does not have it
	 * @param path the path of the call, as in {@link Setting}
	 * @param ofPath the operation that this path implies; {@code null} if none
	 * @param operations finds the operations that the call names
	 * @throws InvalidSettingException if a value is not allowed
	 */
	public JobSettings with(Function<String, @Nullable String> query, String path, @Nullable Operation ofPath,
			OperationFinder operations) {
		ZoneId zone = (Setting.ZONE.isFor(path)) ? Setting.ZONE.take(query).orElse(null) : null;
		Atomic atomic = Setting.ATOMIC.take(query).orElse(this.batching.atomic);
		Operation only = (ofPath != null) ? ofPath
				: Setting.OP.take(query).map((name) -> operation(name, operations)).orElse(null);
		TimeToLive ttl = takeExpiry(Setting.TTL, query, path, only).orElse(TimeToLive.NONE);
		TimeToLive expireAt = takeExpiry(Setting.EXPIRE_AT, (name) -> timestamp(query.apply(name), zone), path, only)
			.orElse(TimeToLive.NONE);
		if (ttl.isGiven() && expireAt.isGiven()) {
			throw new InvalidSettingException(Setting.EXPIRE_AT.name(), "and 'ttl' are two expiries: give one of them");
		}
		boolean mapped = Setting.KEY.isFor(path);
		if (ttl.template() != null && !mapped) {
			throw new InvalidSettingException(Setting.TTL.name(),
					"is a template, which only an upload of rows or objects can fill in");
		}
		RecordDefaults defaults = recordDefaults(query, path, only, ttl, expireAt, zone);
		Mapping mapping = (mapped) ? MappingSettings.take(query, path, only, operations, ttl.template(),
				expireAt.template(), this.records.mapping.nulls()) : Mapping.NONE;
		Templates templates = mapping.templates();
		String undecoded = (templates != null && defaults.encoding() == Encoding.BASE64) ? templates.undecoded() : null;
		if (undecoded != null) {
			throw new InvalidSettingException(Setting.ENCODING.name(),
					"is 'base64', and {" + undecoded + "} would read the text that is not decoded");
		}
		String verify = (Setting.VERIFY.isFor(path)) ? Setting.VERIFY.take(query).orElse(this.check.verify) : null;
		boolean once = Setting.EXACTLY_ONCE.isFor(path) && Setting.EXACTLY_ONCE.take(query).orElse(false);
		boolean exactlyOnce = once && verify == null;
		Reliability reliability = this.reliability.with(query, verify != null);
		if (exactlyOnce) {
			requireExactlyOnce(atomic, reliability, defaults, only);
		}
		Batching batching = this.batching.with(query, (verify != null) ? Atomic.NONE : atomic, exactlyOnce,
				verify != null);
		return new JobSettings(batching, reliability,
				new Pace(Setting.RATE_LIMIT.take(query).orElse(this.pace.rateLimit),
						Setting.MAX_LATENCY.take(query).orElse(this.pace.maxLatency)),
				this.reporting.with(query),
				new Records((only != null) ? only : this.records.operation, only != null, defaults, mapping,
						Setting.UNTIL.isFor(path) && Setting.UNTIL.take(query).isPresent(),
						takeReplace(query, path, only)),
				new Check(Setting.DRY_RUN.take(query).orElse(this.check.dryRun), (Setting.ESTIMATE.isFor(path))
						? Setting.ESTIMATE.take(query).orElse(this.check.estimate) : false, verify));
	}

	/** Refuses what cannot run exactly once. */
	private static void requireExactlyOnce(Atomic atomic, Reliability reliability, RecordDefaults defaults,
			@Nullable Operation only) {
		String other = (atomic == Atomic.BATCH) ? "atomic=batch"
				: (reliability.replicas() > 0) ? "replicas" : (defaults.ttlJitter() > 0) ? "ttlJitter"
						: (only == Operation.EVALSHA || (only != null && only.effect().isPop())) ? "op=" + only : null;
		if (other != null) {
			throw new InvalidSettingException(Setting.EXACTLY_ONCE.name(), "cannot be combined with " + other);
		}
	}

	/** A timestamp that names no zone, in the zone of the call. */
	private static @Nullable String timestamp(@Nullable String text, @Nullable ZoneId zone) {
		return (text != null && zone != null) ? Timestamps.inZone(text, zone) : text;
	}

	/**
	 * The operation of a name.
	 * @throws InvalidSettingException if there is none, or the name is that of several
	 */
	private static Operation operation(String name, OperationFinder operations) {
		Operation found = operations.find(name);
		if (found == null) {
			throw new InvalidSettingException(Setting.OP.name(),
					"names no operation: " + FormatHints.unknownOperation(Excerpt.of(name), operations),
					Operation.values().stream().map(Operation::toString).toList());
		}
		if (found.isContainer()) {
			throw new InvalidSettingException(Setting.OP.name(),
					"names an operation of which the second word says which"
							+ " one it is: give it as a command, as in command=" + found
							+ " CREATE {stream} readers $");
		}
		return found;
	}

	private RecordDefaults recordDefaults(Function<String, @Nullable String> query, String path,
			@Nullable Operation only, TimeToLive ttl, TimeToLive expireAt, @Nullable ZoneId zone) {
		RecordDefaults defaults = this.records.recordDefaults;
		boolean expires = mayExpire(path, only);
		Long seconds = (ttl.same() != null) ? ttl.same()
				: (expires && !ttl.isGiven() && !expireAt.isGiven()) ? defaults.ttl() : null;
		return new RecordDefaults(seconds, expireAt.same(), zone,
				takeExpiry(Setting.TTL_JITTER, query, path, only).orElse((expires) ? defaults.ttlJitter() : 0),
				Setting.ENCODING.take(query).orElse(defaults.encoding()));
	}

	/** Takes a setting about expiry, which is refused for operations without expiry. */
	private static <T> Optional<T> takeExpiry(Setting<T> row, Function<String, @Nullable String> query, String path,
			@Nullable Operation only) {
		Optional<T> value = (row.isFor(path)) ? row.take(query) : Optional.empty();
		if (value.isPresent() && !mayExpire(path, only)) {
			throw new InvalidSettingException(row.name(),
					(path.equals(Setting.SWEEP)) ? "has a meaning with from=scan only for op=EXPIRE, not '" + only + "'"
							: "is for SET and HSET, not for " + only
									+ ": keys of other operations expire by records of EXPIRE");
		}
		return value;
	}

	private static @Nullable String takeReplace(Function<String, @Nullable String> query, String path,
			@Nullable Operation only) {
		String pattern = (Setting.REPLACE.isFor(path)) ? Setting.REPLACE.take(query).orElse(null) : null;
		if (pattern != null && only != null && (only.deletesKeys() || only.effect() == Effect.POP)) {
			throw new InvalidSettingException(Setting.REPLACE.name(), "needs records that write keys, and " + only
					+ " only removes: to remove all keys of a pattern, use from=scan&match=" + pattern + "&op=UNLINK");
		}
		return pattern;
	}

	private static boolean mayExpire(String path, @Nullable Operation only) {
		return Setting.TTL.isFor(path) && (only == null
				|| ((path.equals(Setting.SWEEP)) ? only == Operation.EXPIRE : EXPIRING.contains(only)));
	}

	/**
	 * These settings as texts, which {@link #of} parses again.
	 * @return the texts of each setting that has a value, by name
	 */
	public Map<String, List<String>> toTexts() {
		Map<String, List<String>> texts = new LinkedHashMap<>();
		toReport().forEach((name, value) -> texts.put(name, texts(name, value)));
		String callback = callbackText();
		if (callback != null) {
			// The report leaves a part of it out.
			texts.put(Setting.CALLBACK.name(), List.of(callback));
		}
		if (!this.records.only) {
			texts.remove(Setting.OP.name());
		}
		return texts;
	}

	/**
	 * Those of these settings that say how one row becomes records, as texts.
	 * @return the texts of each setting that has a value, by name, and perhaps
	 * {@link #DEFAULT_OP}
	 */
	public Map<String, List<String>> toRowTexts() {
		Map<String, List<String>> texts = toTexts();
		texts.keySet().retainAll(Setting.namesOfRows());
		if (texts.containsKey(Setting.COMMAND.name())) {
			// Commands name their operations.
			texts.keySet().remove(Setting.OP.name());
		}
		else if (this.records.operation != null && !this.records.only) {
			texts.put(DEFAULT_OP, List.of(this.records.operation.toString()));
		}
		return texts;
	}

	private static List<String> texts(String name, Object value) {
		if (value instanceof List<?> list) {
			List<String> words = list.stream().map(String::valueOf).toList();
			return (Setting.isRepeated(name)) ? words
					: List.of((name.equals(Setting.FIELDS.name())) ? FieldTemplate.format(words) : Names.format(words));
		}
		return List.of((value instanceof Results results) ? results.label() : String.valueOf(value));
	}

	/**
	 * The settings of a job of an earlier process, which may have had other defaults.
	 * @param texts the settings as texts, from {@link #toTexts}
	 * @param operation the operation of records that name none
	 * @throws InvalidSettingException if a value is not allowed
	 */
	public static JobSettings of(Map<String, List<String>> texts, @Nullable Operation operation) {
		return of(texts, operation, OperationFinder.TABLE);
	}

	/**
	 * The settings of a job of another process, whose defaults may have been others.
	 * @param texts its settings as {@link #toTexts} has them
	 * @param operation the operation of records that name none
	 * @param operations finds the operations that the texts name
	 * @throws InvalidSettingException if a value is not allowed
	 */
	public static JobSettings of(Map<String, List<String>> texts, @Nullable Operation operation,
			OperationFinder operations) {
		Map<String, Deque<String>> left = new HashMap<>();
		texts.forEach((name, values) -> left.put(name, new ArrayDeque<>(values)));
		JobSettings bare = new JobSettings(new Batching(1, FlushPolicy.close(), 1, Atomic.NONE, Coalesce.AUTO, false),
				new Reliability(Duration.ofSeconds(1), 0, 0, Duration.ofSeconds(1)), Pace.UNLIMITED,
				new Reporting(Results.ERRORS, null, null, null),
				new Records(operation, false, RecordDefaults.NONE, Mapping.NONE, false, null), Check.NONE);
		return bare.with((name) -> left.getOrDefault(name, new ArrayDeque<>(0)).poll(), "/v1/jobs", null, operations);
	}

	/**
	 * The operations of these settings that a server has described, by their names.
	 * @return none if all are in the table
	 */
	public Map<String, Description> described() {
		Map<String, Description> described = new LinkedHashMap<>();
		Stream.concat(Stream.ofNullable(this.records.operation), this.records.mapping.operations().stream())
			.forEach((operation) -> {
				Description description = operation.description();
				if (description != null) {
					described.put(operation.toString(), description);
				}
			});
		return described;
	}

	/**
	 * Rejects a record if the request allows only another operation.
	 * @param record a record that is not rejected yet
	 */
	public void admit(Record record) {
		boolean deletion = this.records.mapping.nulls() == Nulls.DELETE && record.operation() == Operation.DEL;
		if (this.records.only && record.operation() != this.records.operation && !deletion) {
			record.reject(Rejection.FORBIDDEN, "the record is a " + record.operation() + ", and the request is for "
					+ this.records.operation + " alone: post records of several operations to /v1/jobs, without 'op'");
		}
	}

	/**
	 * The operation for lists of jobs and for meters.
	 * @return its name, or {@code mixed} if each record names its own
	 */
	public String operationName() {
		return (this.records.operation != null) ? this.records.operation.toString() : "mixed";
	}

	/** The whole URL of the callback; {@code null} for none. */
	public @Nullable String callbackText() {
		return (this.reporting.callback != null) ? this.reporting.callback.toString() : null;
	}

	/**
	 * Whether a setting gives an expiry to records.
	 * @return {@code false} if records expire only by their own members
	 */
	public boolean expires() {
		return this.records.recordDefaults.ttl() != null || this.records.recordDefaults.expireAt() != null
				|| this.records.mapping.text((texts) -> (texts.ttl() != null) ? texts.ttl() : texts.expireAt()) != null;
	}

	/**
	 * Whether each batch is a transaction.
	 * @return {@code true} for {@code atomic=batch} and {@code exactlyOnce=true}
	 */
	public boolean isAtomic() {
		return this.batching.atomic == Atomic.BATCH || this.batching.exactlyOnce;
	}

	/** Whether the job writes anything. */
	public boolean writes() {
		return !this.check.dryRun && this.check.verify == null;
	}

	/**
	 * Whether neighbouring records may be sent as one command.
	 * @return {@code true} for {@code coalesce=auto}, without {@code exactlyOnce}
	 */
	public boolean coalesces() {
		return this.batching.coalesce == Coalesce.AUTO && !this.batching.exactlyOnce;
	}

	/**
	 * These settings for the report.
	 * @return a new map of names and values, in the order of {@link Setting}
	 */
	public Map<String, Object> toReport() {
		Map<String, Object> report = new LinkedHashMap<>();
		for (Setting<?> row : Setting.ALL) {
			Object value = row.value().apply(this);
			if (value != null && (row.reported() == null || row.reported().test(this))) {
				report.put(row.name(), value);
			}
		}
		return report;
	}

	/**
	 * How records are sent.
	 *
	 * @param batchSize the most records in one call of {@code executePipelined}
	 * @param flush when commands are written to the socket; a transaction is always
	 * written as a whole
	 * @param concurrency the number of lanes: pipelines that run at once
	 * @param atomic the unit of atomicity
	 * @param coalesce whether neighbouring records are sent as one command
	 * @param exactlyOnce whether each batch is a transaction with a mark that tells
	 * whether it ran
	 */
	public record Batching(int batchSize, FlushPolicy flush, int concurrency, Atomic atomic, Coalesce coalesce,
			boolean exactlyOnce) {

		public Batching {
			Setting.BATCH_SIZE.check(batchSize);
			int most = maxBatchSize(atomic, exactlyOnce);
			if (batchSize > most) {
				throw Setting.BATCH_SIZE.refused(
						"1 to " + most + " with " + ((exactlyOnce) ? "exactlyOnce=true" : "atomic=batch"), batchSize);
			}
			Setting.CONCURRENCY.check(concurrency);
			flush = (atomic == Atomic.BATCH || exactlyOnce) ? FlushPolicy.close() : flush;
		}

		private Batching with(Function<String, @Nullable String> query, Atomic atomic, boolean exactlyOnce,
				boolean verifies) {
			Coalesce coalesced = Setting.COALESCE.take(query).orElse(this.coalesce);
			int lanes = (exactlyOnce) ? Math.max(this.concurrency, MARKED_LANES) : this.concurrency;
			return new Batching(
					Setting.BATCH_SIZE.take(query).orElse(Math.min(this.batchSize, maxBatchSize(atomic, exactlyOnce))),
					Setting.FLUSH.take(query).orElse(this.flush), Setting.CONCURRENCY.take(query).orElse(lanes), atomic,
					(verifies) ? Coalesce.OFF : coalesced, exactlyOnce);
		}

	}

	/**
	 * What happens when Redis does not answer, or may lose what it has.
	 *
	 * @param timeout how long Redis may send nothing while a write is unanswered, before
	 * the connection counts as lost
	 * @param retries how often the job may lose its connection to Redis and continue
	 * @param replicas how many replicas must confirm each batch
	 * @param replicasTimeout how long to wait for the replicas
	 */
	public record Reliability(Duration timeout, int retries, int replicas, Duration replicasTimeout) {

		public Reliability {
			Setting.TIMEOUT.check(timeout);
			Setting.RETRIES.check(retries);
			Setting.REPLICAS.check(replicas);
			Setting.REPLICAS_TIMEOUT.check(replicasTimeout);
		}

		private Reliability with(Function<String, @Nullable String> query, boolean verifies) {
			int replicas = Setting.REPLICAS.take(query).orElse(this.replicas);
			Optional<Duration> replicasTimeout = Setting.REPLICAS_TIMEOUT.take(query);
			if (replicasTimeout.isPresent() && replicas == 0) {
				throw new InvalidSettingException(Setting.REPLICAS_TIMEOUT.name(),
						"has a meaning only with replicas from 1 to 5");
			}
			return new Reliability(Setting.TIMEOUT.take(query).orElse(this.timeout),
					Setting.RETRIES.take(query).orElse(this.retries), (verifies) ? 0 : replicas,
					replicasTimeout.orElse(this.replicasTimeout));
		}

	}

	/**
	 * How fast the job may be.
	 *
	 * @param rateLimit the most records sent per second; {@code null} for no limit
	 * @param maxLatency the latency of Redis for other clients above which the job slows
	 * down; {@code null} for no limit
	 */
	public record Pace(@Nullable Long rateLimit, @Nullable Duration maxLatency) {

		/** As fast as Redis is. */
		public static final Pace UNLIMITED = new Pace(null, null);

		public Pace {
			Setting.RATE_LIMIT.check(rateLimit);
			Setting.MAX_LATENCY.check(maxLatency);
		}

	}

	/**
	 * What the caller learns.
	 *
	 * @param results which records the report lists
	 * @param maxErrors the most rejected records that do not stop the job; {@code null}
	 * for no limit
	 * @param label the caller's name for the job; {@code null} if the caller gave none
	 * @param callback the URL for the report of the ended job, whose query may hold a
	 * secret; {@code null} for none
	 */
	public record Reporting(Results results, @Nullable Long maxErrors, @Nullable String label, @Nullable URI callback) {

		public Reporting {
			Setting.MAX_ERRORS.check(maxErrors);
		}

		private Reporting with(Function<String, @Nullable String> query) {
			return new Reporting(Setting.RESULTS.take(query).orElse(this.results),
					Setting.MAX_ERRORS.take(query).orElse(this.maxErrors), Setting.LABEL.take(query).orElse(this.label),
					Setting.CALLBACK.take(query).orElse(this.callback));
		}

	}

	/**
	 * What the records are, and which keys they leave.
	 *
	 * @param operation the operation of records that name none; {@code null} if each
	 * record must name one
	 * @param only whether records of other operations are rejected
	 * @param recordDefaults the expiry and encoding of records that have none of their
	 * own
	 * @param mapping how rows and objects become records
	 * @param untilEmpty whether the job ends at the first empty reply to a pop
	 * @param replace the pattern of the keys to remove if no record wrote them;
	 * {@code null} for none
	 */
	public record Records(@Nullable Operation operation, boolean only, RecordDefaults recordDefaults, Mapping mapping,
			boolean untilEmpty, @Nullable String replace) {

		public Records {
			Setting.TTL_JITTER.check(recordDefaults.ttlJitter());
		}

	}

	/**
	 * Whether anything is sent.
	 *
	 * @param dryRun whether to only read and check the records
	 * @param estimate whether to estimate the memory of the records; only in a dry run
	 * @param verify how to compare the records with what Redis has instead of writing
	 * them; {@code null} for a load
	 */
	public record Check(boolean dryRun, boolean estimate, @Nullable String verify) {

		/** Everything is sent. */
		public static final Check NONE = new Check(false, false, null);

		public Check {
			if (estimate && !dryRun) {
				throw new InvalidSettingException(Setting.ESTIMATE.name(), "has a meaning only with dryRun=true");
			}
			if (verify != null && dryRun) {
				throw new InvalidSettingException(Setting.VERIFY.name(), "cannot be combined with dryRun");
			}
		}

	}

}
