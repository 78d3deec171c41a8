package io.pipeset.request;

import java.net.URI;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.record.Expiry;
import io.pipeset.record.GlobPattern;
import io.pipeset.record.Timestamps;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.record.mapping.CellSyntax.Escape;
import io.pipeset.record.mapping.FieldTemplate;
import io.pipeset.record.mapping.Header;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Rows;
import io.pipeset.record.mapping.Template;
import io.pipeset.record.mapping.TemplateException;
import io.pipeset.record.mapping.Templates.Texts;
import io.pipeset.record.mapping.Word;
import io.pipeset.report.DurationText;
import io.pipeset.report.Results;
import org.jspecify.annotations.Nullable;

/**
 * A setting of a job. The constants are the table of all settings, in the order of the
 * report. {@link JobDefaults} has the defaults of those that are properties, because the
 * metadata of the properties is generated from there.
 *
 * @param name the name in a query string, in a report and, with dashes, as a property
 * @param hasDefault whether a property sets the default
 * @param calls the paths of the calls that have the setting; empty for all
 * @param formats the upload formats that the setting is for; empty for all records
 * @param allowed the values that the setting may have
 * @param value reads the value from a job's settings; returns {@code null} for none
 * @param reported whether a report has the value; {@code null} for always
 * @param defaultValue the default if no property sets it; {@code null} for none
 * @param meaning the description for the documentation, in Markdown
 */
public record Setting<T>(String name, boolean hasDefault, List<String> calls, Set<RecordFormat> formats,
		Allowed<T> allowed, Function<JobSettings, @Nullable Object> value, @Nullable Predicate<JobSettings> reported,
		@Nullable String defaultValue, String meaning) {

	static final List<Setting<?>> ALL = new ArrayList<>();

	private static final Map<String, Object> NOT_EMPTY = Map.of("type", "string", "minLength", 1);

	/** The names of the settings that may be given several times. */
	private static final Set<String> REPEATED = Set.of("args", "command", "null");

	private static final int MAX_LABEL = 120;

	private static final List<String> ALL_CALLS = List.of();

	/** The path of a sweep, a job on the keys that SCAN finds. */
	public static final String SWEEP = "/v1/jobs?from=scan";

	/** The path of a job whose records the service fetches from a URL. */
	public static final String FROM_URL = "/v1/jobs?from=url";

	/** The path of a job whose records are the rows of a query. */
	public static final String FROM_QUERY = "/v1/jobs?from=query";

	/** The calls whose records may be SET and HSET. */
	private static final List<String> WRITES = List.of("/v1/jobs", "/pipeset", "/pipehset");

	/** The same calls, and sweeps, whose operation may be EXPIRE. */
	private static final List<String> WRITES_AND_SWEEPS = Stream.concat(WRITES.stream(), Stream.of(SWEEP)).toList();

	private static final Set<RecordFormat> ALL_RECORDS = Set.of();

	private static final Set<RecordFormat> ROWS = Collections
		.unmodifiableSet(EnumSet.of(RecordFormat.CSV, RecordFormat.TSV));

	private static final Set<RecordFormat> DATA = Collections
		.unmodifiableSet(EnumSet.of(RecordFormat.NDJSON, RecordFormat.JSON, RecordFormat.CSV, RecordFormat.TSV));

	/** JSON, in which rows may be elsewhere than at the top. */
	private static final Set<RecordFormat> OBJECTS = Collections
		.unmodifiableSet(EnumSet.of(RecordFormat.NDJSON, RecordFormat.JSON));

	public static final Setting<Integer> BATCH_SIZE = row("batchSize", ALL_CALLS,
			Allowed.integer(1, JobSettings.MAX_BATCH_SIZE), (settings) -> settings.batching().batchSize(),
			"The most records in one batch, which is one call of `executePipelined`.");

	public static final Setting<FlushPolicy> FLUSH = row("flush", ALL_CALLS,
			Allowed.of(FlushPolicy.ALLOWED, FlushPolicy::parse), (settings) -> settings.batching().flush(),
			"When commands are written to the socket: one by one, a batch at a time, or N at a time.");

	public static final Setting<Integer> CONCURRENCY = row("concurrency", ALL_CALLS, Allowed.integer(1, 16),
			(settings) -> settings.batching().concurrency(),
			"The number of lanes: pipelines that run at once, each on its own connection.");

	static final Setting<Duration> TIMEOUT = row("timeout", ALL_CALLS, Allowed.duration("1ms", "1h", "30s"),
			(settings) -> DurationText.of(settings.reliability().timeout()),
			"How long to wait for a reply before the connection counts as lost.");

	static final Setting<Long> MAX_ERRORS = row("maxErrors", ALL_CALLS, Allowed.atLeast(0),
			(settings) -> settings.reporting().maxErrors(), "The job stops when more records than this are rejected.");

	static final Setting<Integer> RETRIES = row("retries", ALL_CALLS, Allowed.integer(0, 10),
			(settings) -> settings.reliability().retries(),
			"How often the job may lose its connection to Redis and continue. With 0, the first loss ends it.");

	static final Setting<Integer> REPLICAS = row("replicas", ALL_CALLS, Allowed.integer(0, 5),
			(settings) -> settings.reliability().replicas(), (settings) -> settings.reliability().replicas() > 0,
			"The [replicas that have to confirm](reliability.md#replicas) each batch; records that fewer confirm are `unknown`.");

	static final Setting<Duration> REPLICAS_TIMEOUT = row("replicasTimeout", ALL_CALLS,
			Allowed.duration("1ms", "1h", "30s"),
			(settings) -> DurationText.of(settings.reliability().replicasTimeout()),
			(settings) -> settings.reliability().replicas() > 0,
			"How long the replicas have to confirm a batch, after its last reply.");

	static final Setting<Results> RESULTS = row("results", ALL_CALLS, Allowed.words(Results.values(), Results::label),
			(settings) -> settings.reporting().results(),
			"The records that the report lists; `all` adds the reply to each.");

	static final Setting<String> OP = row("op", List.of("/v1/jobs", SWEEP),
			Allowed.of("the name of an operation, such as SET", (text) -> (text.isEmpty()) ? null : text, NOT_EMPTY),
			(settings) -> (settings.records().operation() != null) ? settings.records().operation().toString() : null,
			"The operation of all records, whether they name it or not. Other records are refused.");

	public static final Setting<TimeToLive> TTL = row("ttl", WRITES_AND_SWEEPS,
			Allowed.of(Expiry.ALLOWED + ", or a template such as {expires}",
					templates("ttl", TimeToLive.reader(Expiry::parse))),
			(settings) -> (settings.records().mapping().text(Texts::ttl) != null)
					? settings.records().mapping().text(Texts::ttl) : settings.records().recordDefaults().ttl(),
			"How long the keys live that SET and HSET write, or that a sweep with EXPIRE finds.");

	static final Setting<TimeToLive> EXPIRE_AT = add(new Setting<>("expireAt", false, WRITES, ALL_RECORDS,
			Allowed.of(Timestamps.ALLOWED + ", or a template such as {expires_at}",
					templates("expireAt", TimeToLive.reader(Timestamps::parse))),
			(settings) -> (settings.records().mapping().text(Texts::expireAt) != null)
					? settings.records().mapping().text(Texts::expireAt)
					: timestamp(settings.records().recordDefaults().expireAt()),
			null, null, "Instead of `ttl`: the time at which the keys that SET and HSET write expire."));

	public static final Setting<Integer> TTL_JITTER = row("ttlJitter", WRITES_AND_SWEEPS, Allowed.percent(50),
			(settings) -> settings.records().recordDefaults().ttlJitter() + "%",
			(settings) -> settings.records().recordDefaults().ttlJitter() > 0,
			"Moves each expiry earlier or later by a random part of its time to live, at most this share, in whole seconds.");

	static final Setting<Encoding> ENCODING = row("encoding", ALL_CALLS,
			Allowed.words(Encoding.values(), Encoding::label),
			(settings) -> settings.records().recordDefaults().encoding().label(),
			(settings) -> settings.records().recordDefaults().encoding() != Encoding.UTF8,
			"How strings in the body and in replies encode bytes. A record's own `encoding` wins.");

	public static final Setting<Long> RATE_LIMIT = row("rateLimit", ALL_CALLS,
			Allowed.number(1_000_000_000, "records per second"), (settings) -> settings.pace().rateLimit(),
			"The most records that the job sends per second, spread evenly.");

	static final Setting<Duration> MAX_LATENCY = row("maxLatency", ALL_CALLS, Allowed.duration("1ms", "10s", "5ms"),
			(settings) -> (settings.pace().maxLatency() != null) ? DurationText.of(settings.pace().maxLatency()) : null,
			"The [latency that other clients may see](jobs.md#limiting-the-latency-of-others): while more than a tenth"
					+ " of the PINGs of a probe take longer, the job slows down.");

	static final Setting<Atomic> ATOMIC = row("atomic", ALL_CALLS, Allowed.words(Atomic.values(), Atomic::label),
			(settings) -> settings.batching().atomic().label(),
			(settings) -> settings.batching().atomic() == Atomic.BATCH,
			"With `batch`, each batch is one MULTI/EXEC, of 10,000 commands at most.");

	public static final Setting<Boolean> EXACTLY_ONCE = add(new Setting<>("exactlyOnce", false, List.of("/v1/jobs"),
			ALL_RECORDS, Allowed.truth(), (settings) -> settings.batching().exactlyOnce(),
			(settings) -> settings.batching().exactlyOnce(), "false",
			"Each record runs [exactly once](exactly-once.md), whatever is lost, killed or failed over."));

	static final Setting<Coalesce> COALESCE = row("coalesce", ALL_CALLS,
			Allowed.words(Coalesce.values(), Coalesce::label), (settings) -> settings.batching().coalesce().label(),
			"With `auto`, neighbouring records are sent as [one command](coalescing.md) if Redis can run them so.");

	static final Setting<Boolean> DRY_RUN = row("dryRun", ALL_CALLS, Allowed.truth(),
			(settings) -> settings.check().dryRun(), (settings) -> settings.check().dryRun(),
			"Only reads and checks the records: valid ones are `unprocessed`. Redis is not needed.");

	static final Setting<Boolean> ESTIMATE = add(new Setting<>("estimate", false, WRITES, ALL_RECORDS, Allowed.truth(),
			(settings) -> settings.check().estimate(), (settings) -> settings.check().estimate(), "false",
			"With `dryRun`: [estimates the memory](#estimate) that the records need in Redis, from a sample."));

	static final Setting<String> VERIFY = add(new Setting<>("verify", false, List.of("/v1/jobs"), ALL_RECORDS,
			Allowed.words("true", "ttl"), (settings) -> settings.check().verify(), null, null,
			"Writes nothing, and [compares](verify.md) each record with what Redis has; with `ttl` also what records of"
					+ " EXPIRE set."));

	public static final Setting<String> REPLACE = add(new Setting<>("replace", false, WRITES, ALL_RECORDS,
			Allowed.of(
					"a glob-style pattern such as product:*, of at most " + GlobPattern.MAX_BYTES
							+ " bytes, whose ranges in brackets are ASCII",
					(text) -> (GlobPattern.parse(text) != null) ? text : null, NOT_EMPTY),
			(settings) -> settings.records().replace(), null, null,
			"When all records have run, removes the keys of this pattern that they did not write: see"
					+ " [replace a dataset](replace.md)."));

	static final Setting<String> LABEL = add(new Setting<>("label", false, ALL_CALLS, ALL_RECORDS,
			Allowed.of("1 to 120 visible characters", Setting::label), (settings) -> settings.reporting().label(), null,
			null, "A name for people, shown wherever the job is; it has no other meaning."));

	/** A report has it without its query, which may hold a secret. */
	public static final Setting<URI> CALLBACK = add(new Setting<>("callback", false, ALL_CALLS, ALL_RECORDS,
			Allowed.of(UrlPrefixes.ALLOWED,
					(text) -> url("callback", text, UrlPrefixes.MAX_URL_LENGTH, UrlPrefixes.ALLOWED),
					Map.of("type", "string", "format", "uri", "maxLength", UrlPrefixes.MAX_URL_LENGTH)),
			(settings) -> (settings.reporting().callback() != null)
					? UrlPrefixes.withoutQuery(settings.reporting().callback().toString()) : null,
			null, null,
			"With `Prefer: respond-async`: where the report is [posted](callbacks.md) when the job has ended."));

	static final Setting<Nulls> NULLS = add(new Setting<>("nulls", true, WRITES, DATA,
			Allowed.words(Nulls.values(), Nulls::label), (settings) -> settings.records().mapping().nulls().label(),
			(settings) -> settings.records().mapping().nulls() != Nulls.REFUSE, null,
			"With `skip`, a field or expiry that is null is left out; with `empty`, a field or value is the empty string; with `delete`, a SET whose value is null is a DEL."));

	static final Setting<Template> KEY = template("key",
			"The [template](templates.md) of each record's key. It turns rows and objects into records.", Texts::key);

	static final Setting<Template> VALUE = template("value",
			"For SET: the template of the value. `{*}` is the whole row or object.", Texts::value);

	static final Setting<List<FieldTemplate>> FIELDS = ofUploads("fields", DATA,
			Allowed.of("fields with commas between them, such as name,city={address.city},{attrs...}, or -name for all"
					+ " but one", templates("fields", FieldTemplate::parse)),
			(settings) -> settings.records()
				.mapping()
				.text((texts) -> (texts.fields() != null) ? texts.fields().stream().map(String::valueOf).toList()
						: null),
			"For HSET and XADD: the columns or members that are fields, `name=template` for others, `{attrs...}` for all"
					+ " members of an object, and `-name` for all but one; without it, all.");

	/** A setting that may be given several times. */
	public static final Setting<Word> ARGS = add(new Setting<>("args", false, WRITES_AND_SWEEPS, DATA,
			Allowed.of("a template such as {points}, {tags...}, or [ and ] around a group, with {{ and }} for braces",
					templates("args", Word::parse)),
			(settings) -> settings.records()
				.mapping()
				.text((texts) -> (texts.args().isEmpty()) ? null : texts.argTexts()),
			null, null,
			"Templates of the arguments after the key and what `value` or `fields` make, in their order. In a sweep of"
					+ " EXPIRE: NX, XX, GT or LT."));

	/** A setting that may be given several times. */
	public static final Setting<List<Word>> COMMAND = add(new Setting<>("command", false, List.of("/v1/jobs"), DATA,
			Allowed.of("a command in the words of redis-cli, such as HSET user:{id} name {name}, with {{ and }} for"
					+ " braces", templates("command", Word::parseCommand)),
			(settings) -> settings.records()
				.mapping()
				.text((texts) -> (texts.commands().isEmpty()) ? null : texts.commandTexts()),
			null, null,
			"Instead of `op`, `key` and the rest: a command of each row in the words of redis-cli. Given several times,"
					+ " each row makes several records."));

	static final Setting<Template> ID = template("id", "The template of the `id` that the report gives the record.",
			Texts::id);

	static final Setting<Character> DELIMITER = ofUploads("delimiter", ROWS,
			Allowed.of("a character of ASCII that is no quote, or tab", Setting::delimiter),
			(settings) -> delimiterText(settings.records().mapping().cells().delimiter()),
			"The character that separates the cells, instead of the comma of CSV and the tab of TSV.");

	static final Setting<Header> HEADER = ofUploads("header", ROWS,
			Allowed.of("the names of the columns with commas between them, such as sid,price, or absent or present",
					Header::parse),
			(settings) -> settings.records().mapping().header().text(),
			"The names of the columns, for a file without a header row; `absent` if [numbers](templates.md#names) name"
					+ " them.");

	static final Setting<Escape> ESCAPE = ofUploads("escape", ROWS,
			Allowed.words(new Escape[] { Escape.BACKSLASH, Escape.QUOTES }, Escape::label),
			(settings) -> (settings.records().mapping().cells().escape() != Escape.NONE)
					? settings.records().mapping().cells().escape().label() : null,
			"What a backslash means: with `backslash` an escape in every cell (MySQL, COPY), with `quotes` one of quotes"
					+ " within quotes (Spark, DuckDB).");

	/** A setting that may be given several times. */
	public static final Setting<String> NULL = ofUploads("null", ROWS,
			Allowed.of("the text of a null cell, such as \\N or NULL; none for an empty cell, \"\" also for one in"
					+ " quotes", (text) -> text),
			(settings) -> (settings.records().mapping().cells().nulls().isEmpty()) ? null
					: settings.records().mapping().cells().nulls(),
			"A cell without quotes that is exactly this text is null, and an empty cell is then the empty string.");

	static final Setting<Boolean> TRIM = ofUploads("trim", ROWS, Allowed.truth(),
			(settings) -> (settings.records().mapping().cells().trim()) ? true : null,
			"Drops blanks around cells without quotes, and around the quotes of others.");

	static final Setting<String> COMMENT = ofUploads("comment", ROWS,
			Allowed.of("1 to 16 characters of ASCII that are no quote; an unescaped # ends a URL: write %23",
					(text) -> (text.matches("[!-~&&[^\"]][ -~]{0,15}")) ? text : null, NOT_EMPTY),
			(settings) -> settings.records().mapping().cells().comment(),
			"Rows that begin with this text are passed over.");

	static final Setting<Rows> ROWS_ARE = ofUploads("rows", OBJECTS,
			Allowed.of("entries, or items: and the path of an array, such as items:hits.hits", Rows::parse),
			(settings) -> settings.records().mapping().rows().text(),
			"With `entries`, the body is one object, and each of its members is a row: `{@key}` and `{@value}`. With"
					+ " `items:PATH`, each element of that array of each object is.");

	static final Setting<ZoneId> ZONE = ofUploads("zone", DATA,
			Allowed.of("a time zone such as UTC or Europe/Berlin", Setting::zone),
			(settings) -> settings.records().recordDefaults().zone(), "The time zone of timestamps that name none.");

	static final Setting<String> UNTIL = add(new Setting<>("until", false, List.of("/piperpop"), ALL_RECORDS,
			Allowed.words("empty"), (settings) -> (settings.records().untilEmpty()) ? "empty" : null, null, null,
			"With `empty`, the job ends at the first empty reply; later pops do not count as records."));

	public static final Setting<Boolean> RELIABLE = parameter("reliable", List.of("/piperpop"), Allowed.truth(),
			"false", "Keeps the values in Redis until the caller acknowledges them.");

	public static final Setting<Duration> RECEIPT_TTL = parameter("receiptTtl", List.of("/piperpop"),
			Allowed.duration("1s", "24h", "90s"), "60s",
			"How long the caller of a reliable pop has to acknowledge its values.");

	public static final Setting<String> FROM = parameter("from", List.of(SWEEP, FROM_URL, FROM_QUERY),
			Allowed.words("scan", "url", "query"), null,
			"Where the records come from instead of the body: the keys that SCAN finds ([sweeps](sweeps.md)), or a URL or the rows of a query ([sources](sources.md)).");

	public static final Setting<URI> URL = parameter("url", List.of(FROM_URL),
			Allowed.of(UrlPrefixes.ALLOWED_SIGNED,
					(text) -> url("url", text, UrlPrefixes.MAX_SIGNED_URL_LENGTH, UrlPrefixes.ALLOWED_SIGNED),
					Map.of("type", "string", "format", "uri", "maxLength", UrlPrefixes.MAX_SIGNED_URL_LENGTH)),
			null, "The URL whose body has the records. Required; percent-encoded.");

	public static final Setting<String> SOURCE = parameter("source", List.of(FROM_QUERY),
			Allowed.of("the name of a query", (text) -> (text.isEmpty()) ? null : text, NOT_EMPTY), null,
			"The query of `pipeset.sources.queries` whose rows are the records. Required. Its parameters are `param.NAME`.");

	public static final Setting<RecordFormat> FORMAT = parameter("format", List.of(FROM_URL),
			Allowed.words(RecordFormat.values(), RecordFormat::label), null,
			"The format of the body, if neither its media type nor the end of its name says it.");

	public static final Setting<String> MATCH = parameter("match", List.of(SWEEP),
			Allowed.of("a glob-style pattern such as cache:*", (text) -> (text.isEmpty()) ? null : text, NOT_EMPTY),
			null, "The pattern of the keys. Required; `*` for all keys.");

	public static final Setting<String> TYPE = parameter("type", List.of(SWEEP),
			Allowed.words("string", "list", "set", "zset", "hash", "stream"), null,
			"Leaves out the keys of other types.");

	public static final Setting<Long> LIMIT = parameter("limit", List.of(SWEEP, FROM_URL, FROM_QUERY),
			Allowed.number(1_000_000_000_000L, "records"), null,
			"The job ends after this many records. Of a URL or a query, the rest is not fetched.");

	private static <T> Setting<T> row(String name, List<String> calls, Allowed<T> allowed,
			Function<JobSettings, @Nullable Object> value, String meaning) {
		return row(name, calls, allowed, value, null, meaning);
	}

	private static <T> Setting<T> row(String name, List<String> calls, Allowed<T> allowed,
			Function<JobSettings, @Nullable Object> value, @Nullable Predicate<JobSettings> reported, String meaning) {
		return add(new Setting<>(name, true, calls, ALL_RECORDS, allowed, value, reported, null, meaning));
	}

	/** A setting without a property. */
	private static <T> Setting<T> parameter(String name, List<String> calls, Allowed<T> allowed,
			@Nullable String defaultValue, String meaning) {
		return add(new Setting<>(name, false, calls, ALL_RECORDS, allowed, (settings) -> null, null, defaultValue,
				meaning));
	}

	/**
	 * A parameter of another call, which is not in the table of job settings.
	 * @param defaultValue the default; {@code null} for none
	 * @param meaning the description for the documentation, in Markdown
	 */
	public static <T> Setting<T> of(String name, String call, Allowed<T> allowed, @Nullable String defaultValue,
			String meaning) {
		return new Setting<>(name, false, List.of(call), ALL_RECORDS, allowed, (settings) -> null, null, defaultValue,
				meaning);
	}

	/** A setting for uploads of some formats, without a property. */
	private static <T> Setting<T> ofUploads(String name, Set<RecordFormat> formats, Allowed<T> allowed,
			Function<JobSettings, @Nullable Object> report, String meaning) {
		return add(new Setting<>(name, false, WRITES, formats, allowed, report, null, null, meaning));
	}

	private static Setting<Template> template(String name, String meaning, Function<Texts, @Nullable Object> report) {
		return ofUploads(name, DATA,
				Allowed.of("a template such as session:{sid}, with {{ and }} for braces",
						templates(name, Template::parse)),
				(settings) -> settings.records().mapping().text(report), meaning);
	}

	/** Reads templates, and says what is wrong with one that is none. */
	private static <T> Function<String, @Nullable T> templates(String name, Function<String, @Nullable T> parser) {
		return (text) -> {
			try {
				return parser.apply(text);
			}
			catch (TemplateException ex) {
				if (ex.isGeneral()) {
					return null;
				}
				throw new InvalidSettingException(name, String.valueOf(ex.getMessage()));
			}
		};
	}

	private static <T> Setting<T> add(Setting<T> row) {
		ALL.add(row);
		return row;
	}

	private static @Nullable String timestamp(@Nullable Long millis) {
		return (millis != null) ? Instant.ofEpochMilli(millis).toString() : null;
	}

	/** A text without characters that are invisible, or change how others are shown. */
	private static @Nullable String label(String text) {
		boolean visible = text.codePoints().noneMatch((character) -> switch (Character.getType(character)) {
			case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR,
					Character.SURROGATE, Character.UNASSIGNED ->
				true;
			default -> false;
		});
		int length = text.codePointCount(0, text.length());
		return (visible && length <= MAX_LABEL && !text.isBlank()) ? text : null;
	}

	private static URI url(String name, String text, int most, String allowed) {
		URI url = UrlPrefixes.parse(text, most);
		if (url == null) {
			throw new InvalidSettingException(name,
					"must be " + allowed + ". The value is not shown because it may contain a secret");
		}
		return url;
	}

	private static @Nullable Character delimiter(String text) {
		boolean single = text.length() == 1 && text.charAt(0) < 0x7F && "\"\r\n".indexOf(text.charAt(0)) < 0;
		return (text.equals("tab")) ? Character.valueOf('\t') : (single) ? Character.valueOf(text.charAt(0)) : null;
	}

	private static @Nullable Object delimiterText(@Nullable Character delimiter) {
		return (delimiter != null && delimiter == '\t') ? "tab" : delimiter;
	}

	private static @Nullable ZoneId zone(String text) {
		try {
			return ZoneId.of(text);
		}
		catch (DateTimeException ex) {
			return null;
		}
	}

	/** The names of the settings that say how one row becomes records. */
	public static List<String> namesOfRows() {
		Stream<Setting<?>> general = Stream.of(OP, TTL, EXPIRE_AT, TTL_JITTER, ENCODING);
		return Stream.concat(general, ofFormats().stream()).map(Setting::name).toList();
	}

	/** The settings that are only for uploads of some formats. */
	public static List<Setting<?>> ofFormats() {
		return ALL.stream().filter((row) -> !row.formats.isEmpty()).toList();
	}

	/**
	 * The names of the settings of a call, those that not all calls have first.
	 * @param path the path of the call, as in {@link #calls}
	 */
	public static List<String> names(String path) {
		return of(path).stream().map(Setting::name).toList();
	}

	/**
	 * The settings of a call, those that not all calls have first.
	 * @param path the path of the call, as in {@link #calls}
	 */
	public static List<Setting<?>> of(String path) {
		return ALL.stream()
			.filter((row) -> row.isFor(path))
			.sorted(Comparator.comparing((row) -> row.calls.isEmpty()))
			.toList();
	}

	/**
	 * The paths of the calls that have a setting.
	 * @param name the name of the setting
	 * @return none if there is no such setting, or if all calls have it
	 */
	public static List<String> callsOf(String name) {
		return ALL.stream().filter((row) -> row.name.equals(name)).flatMap((row) -> row.calls.stream()).toList();
	}

	/** Whether a call may give a setting several times. */
	public static boolean isRepeated(String name) {
		return REPEATED.contains(name);
	}

	boolean isFor(String path) {
		return this.calls.isEmpty() || this.calls.contains(path);
	}

	/**
	 * Takes the value of this setting from a call.
	 * @param query returns the text of a setting by its name; {@code null} if the call
	 * does not have it
	 * @throws InvalidSettingException if the value is not allowed
	 */
	public Optional<T> take(Function<String, @Nullable String> query) {
		return Optional.ofNullable(query.apply(this.name)).map(this::parse);
	}

	/**
	 * Takes the value of this setting from a call, or the default.
	 * @param query returns the text of a setting by its name; {@code null} if the call
	 * does not have it
	 * @throws InvalidSettingException if the value is not allowed
	 */
	public T takeOrDefault(Function<String, @Nullable String> query) {
		return take(query).orElseGet(() -> parse(Objects.requireNonNull(this.defaultValue)));
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
	 * @throws InvalidSettingException if the value is out of bounds
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
