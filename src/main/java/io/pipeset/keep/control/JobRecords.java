package io.pipeset.keep.control;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.pipeset.keep.control.ReportBytes.ReportWriter;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.JobStatus.EndReason;
import io.pipeset.request.Client;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.core.env.Environment;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.stereotype.Component;

/**
 * The records of jobs in the control Redis, which every instance can read. Only the
 * process that has a job writes its status. It does so at least once in a lease time: a
 * job that has not ended, and whose record is older, is interrupted. The changes that
 * callers request at other instances are fields of the record, which the process reads
 * whenever it writes.
 * <p>
 * Each call uses one key at a time, so that the control Redis may be a cluster. Every
 * method throws {@link ControlRedisException} if the control Redis cannot be reached, or
 * refuses.
 */
@Component
public class JobRecords {

	private static final Logger logger = LoggerFactory.getLogger(JobRecords.class);

	/** The most records that a list reads between two queries of the index. */
	private static final int CHUNK = 200;

	/** The most records that one list reads. */
	private static final int MAX_READS = 2_000;

	static final String CLIENT = "client";

	private static final String STATUS = "status";

	/** The time since the last write; no field. */
	private static final String AGE = "age";

	/** 1 while the job of an idempotency key cannot have written to the data Redis. */
	private static final String UNSENT = "unsent";

	private static final String REPORT = "report";

	/** The warnings of the report. */
	private static final String WARNINGS = "warnings";

	private static final String INSTANCE = "instance";

	/** When a caller cancelled the job at another instance. */
	private static final String CANCELLED = "cancelled";

	/**
	 * The rate limit that a caller has requested at another instance. Instances of other
	 * versions know the field by this name.
	 */
	private static final String RATE_LIMIT = "pace";

	/** The digest of a request with an idempotency key, for its repeats. */
	private static final String REQUEST = "request";

	/** 1 for a job with files from which another process can resume it. */
	private static final String RESUMABLE = "resumable";

	/** The fields of a record without its report. */
	private static final List<String> WITHOUT_REPORT = List.of(CLIENT, STATUS, INSTANCE, CANCELLED, UNSENT);

	private static final List<String> ALL = Stream
		.concat(WITHOUT_REPORT.stream(),
				Stream.of(REPORT, WARNINGS, REQUEST, RESUMABLE, CallbackQueue.BODY, CallbackQueue.STATE))
		.toList();

	/**
	 * Writes fields, or only that the process lives, and reads the requested changes. The
	 * arguments: how long the record is kept, empty to write no fields; the rate limit
	 * that the job has; 1 or 0 for a job with a key that has not or may have written; the
	 * fields. The reply is empty if there is no record to update.
	 */
	@SuppressWarnings("rawtypes")
	private static final RedisScript<List> WRITE = RedisScript.of("""
			if ARGV[1] == '' and redis.call('EXISTS', KEYS[1]) == 0 then
				return {}
			end
			local time = redis.call('TIME')
			redis.call('HSET', KEYS[1], 'seen', time[1] * 1000 + math.floor(time[2] / 1000), unpack(ARGV, 4))
			if ARGV[3] ~= '' then
				redis.call((ARGV[3] == '0') and 'HSET' or 'HSETNX', KEYS[1], 'unsent', ARGV[3])
			end
			if ARGV[1] ~= '' then
				redis.call('PEXPIRE', KEYS[1], ARGV[1])
			end
			if redis.call('HGET', KEYS[1], 'pace') == ARGV[2] then
				redis.call('HDEL', KEYS[1], 'pace')
			end
			return redis.call('HMGET', KEYS[1], 'cancelled', 'pace')""", List.class);

	/** Reads fields, after the time since the last write in milliseconds. */
	@SuppressWarnings("rawtypes")
	private static final RedisScript<List> READ = RedisScript.of("""
			local values = redis.call('HMGET', KEYS[1], 'seen', unpack(ARGV))
			local time = redis.call('TIME')
			values[1] = string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000) - (values[1] or 0))
			return values""", List.class);

	/** Sets a field of a record that exists. */
	private static final RedisScript<Long> SET = RedisScript.of("""
			if redis.call('EXISTS', KEYS[1]) == 0 then
				return 0
			end
			redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
			return 1""", Long.class);

	/**
	 * Marks that the job of a key may write, or that another job takes its key: only one
	 * of them can. The reply is -1 if there is no record.
	 */
	private static final RedisScript<Long> MARK = RedisScript.of("""
			local mark = redis.call('HGET', KEYS[1], 'unsent')
			if mark == '1' then
				redis.call('HSET', KEYS[1], 'unsent', ARGV[1])
			end
			return (mark == '1' or mark == ARGV[1]) and 1 or mark and 0 or -1""", Long.class);

	private final ControlRedis redis;

	private final JobIndex index;

	private final CallbackQueue callbacks;

	private final JsonMapper mapper;

	private final Environment environment;

	private final Duration retention;

	private final Duration lease;

	JobRecords(ControlRedis redis, JsonMapper mapper, Environment environment, RecordProperties properties,
			CallbackQueue callbacks) {
		this.redis = redis;
		this.callbacks = callbacks;
		this.mapper = mapper;
		this.environment = environment;
		this.retention = properties.retention();
		this.lease = properties.lease();
		this.index = new JobIndex(redis, this.retention, this::exists);
	}

	/**
	 * The name of this instance, for people: its host, and the port that it listens on.
	 */
	public String instance() {
		String port = this.environment.getProperty("local.server.port", "0");
		try {
			return InetAddress.getLocalHost().getHostName() + ':' + port;
		}
		catch (UnknownHostException ex) {
			return "localhost:" + port;
		}
	}

	/** How long a record lasts after its last write. */
	public Duration retention() {
		return this.retention;
	}

	/** How old the record of a job may be whose process lives. */
	public Duration lease() {
		return this.lease;
	}

	/**
	 * Writes the status of a job.
	 * @param client the name of the client that owns the job
	 * @param report the last report; {@code null} to keep the one before
	 * @param resumable whether the job has files from which another process can resume it
	 * @param enters whether to add the job to the list of its client, which must happen
	 * at least once in half the retention
	 * @param callback the URL that gets the report when the job has ended; {@code null}
	 * for none
	 * @param key what a job with an idempotency key has in its record; {@code null} for
	 * other jobs
	 * @param rateLimit the requested rate limit that the job has now, in records per
	 * second; {@code null} for none
	 * @return the changes that other instances have requested
	 */
	public Wishes write(String client, JobStatus status, @Nullable StoredReport report, boolean resumable,
			boolean enters, @Nullable String callback, @Nullable KeyState key, @Nullable Long rateLimit) {
		Long endedMillis = status.endedMillis();
		long left = (endedMillis != null) ? endedMillis - System.currentTimeMillis() : 0;
		long least = (callback != null && endedMillis != null) ? CallbackQueue.KEPT_FOR.toMillis() : 1;
		String kept = Long.toString(Math.max(least, this.retention.toMillis() + left));
		List<Object> arguments = new ArrayList<>(
				List.of(bytes(kept), bytes(rateLimit), bytes(unsent(key)), bytes(CLIENT), bytes(client), bytes(STATUS),
						this.mapper.writeValueAsBytes(status), bytes(INSTANCE), bytes(instance())));
		if (key != null && key.request() != null) {
			arguments.addAll(List.of(bytes(REQUEST), bytes(key.request())));
		}
		if (resumable) {
			arguments.addAll(List.of(bytes(RESUMABLE), bytes("1")));
		}
		byte[] compressed = compress(report);
		if (report != null && compressed != null) {
			arguments.addAll(List.of(bytes(REPORT), compressed, bytes(WARNINGS),
					this.mapper.writeValueAsBytes(report.warnings())));
		}
		if (callback != null) {
			arguments.addAll(List.of(bytes(CallbackQueue.URL), bytes(callback)));
			if (endedMillis != null) {
				arguments.addAll(List.of(bytes(CallbackQueue.BODY), callbackBody(status, report)));
			}
			this.callbacks.add(status.jobId(), client, endedMillis != null);
		}
		Wishes wishes = wishes(this.redis.execute(WRITE, key(status.jobId()), arguments.toArray()));
		if (enters) {
			this.index.add(client, status.jobId());
			if (!status.state().isActive()) {
				this.index.jobEnded(client);
			}
		}
		return Objects.requireNonNullElse(wishes, Wishes.NONE);
	}

	/**
	 * Writes that the process of a job lives.
	 * @param key what a job with an idempotency key has in its record; {@code null} for
	 * other jobs
	 * @param rateLimit the requested rate limit that the job has now, in records per
	 * second; {@code null} for none
	 * @return the changes that other instances have requested; {@code null} if the record
	 * is lost
	 */
	public @Nullable Wishes touch(String id, @Nullable KeyState key, @Nullable Long rateLimit) {
		return wishes(this.redis.execute(WRITE, key(id), bytes(""), bytes(rateLimit), bytes(unsent(key))));
	}

	private static String unsent(@Nullable KeyState key) {
		return (key != null) ? ((key.unsent()) ? "1" : "0") : "";
	}

	private static byte[] bytes(@Nullable Long rateLimit) {
		return bytes((rateLimit != null) ? rateLimit.toString() : "");
	}

	private static @Nullable Wishes wishes(@Nullable List<?> fields) {
		return (fields != null && !fields.isEmpty()) ? new Wishes(fields.get(0) != null,
				(fields.get(1) instanceof byte[] rateLimit) ? Long.valueOf(text(rateLimit)) : null) : null;
	}

	/**
	 * Records that the process of a job ends, so that the job counts as interrupted at
	 * once.
	 */
	public void leave(String id) {
		this.redis.execute(SET, key(id), bytes("seen"), bytes("0"));
	}

	/** Whether a job has a record. */
	public boolean exists(String id) {
		return this.redis.call((template) -> Boolean.TRUE.equals(template.hasKey(key(id))));
	}

	/**
	 * Marks that the job of an idempotency key may write from now on.
	 * @return {@code false} if another job has taken its key; {@code null} if the record
	 * is lost
	 */
	public @Nullable Boolean begin(String id) {
		long marked = Objects.requireNonNull(this.redis.execute(MARK, key(id), bytes("0")));
		return (marked < 0) ? null : Boolean.valueOf(marked == 1);
	}

	/**
	 * Takes the key of a job that has not written, and never will.
	 * @return {@code false} if it may have written
	 */
	public boolean take(String id) {
		return Objects.requireNonNull(this.redis.execute(MARK, key(id), bytes("taken"))) == 1;
	}

	/**
	 * Makes the callback of a job that was cancelled after its process had died, and that
	 * has no files, which the next process would end it by.
	 */
	public void endCallback(String id) {
		find(id)
			.filter((job) -> !job.alive() && job.status().state() == JobState.CANCELLED && !job.resumable()
					&& job.callback() == null)
			.ifPresent((job) -> this.redis.execute(SET, key(id), bytes(CallbackQueue.BODY),
					callbackBody(job.status(), job.report())));
	}

	/**
	 * The JSON that a callback gets, compressed. A report that is too large is left out.
	 */
	private byte[] callbackBody(JobStatus status, @Nullable StoredReport report) {
		ReportWriter statusOnly = (out) -> out.write(this.mapper.writeValueAsBytes(status));
		ReportWriter whole = (out) -> {
			try (InputStream json = Objects.requireNonNull(report)
				.withoutLists(this.mapper)
				.joined(status, List.of(), instance(), null, this.mapper)
				.getInputStream()) {
				json.transferTo(out);
			}
		};
		try {
			return Objects.requireNonNull(ReportBytes.compress((report != null) ? whole : statusOnly, statusOnly));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static byte @Nullable [] compress(@Nullable StoredReport report) {
		try {
			return (report != null) ? report.compress() : null;
		}
		catch (IOException ex) {
			logger.warn("A job's report could not be read, so that its record has none: {}", ex.getMessage());
			return null;
		}
	}

	/** Removes the ids of expired records from the lists of clients. */
	public void tidy() {
		this.index.tidy();
	}

	/** Removes the record of a job that will not run. */
	public void remove(String id) {
		Optional<byte[]> client = this.redis
			.call((template) -> Optional.ofNullable(template.<String, byte[]>opsForHash().get(key(id), CLIENT)));
		client.ifPresent((name) -> this.index.remove(text(name), id));
		this.redis.call((template) -> template.delete(key(id)));
	}

	/** Finds a job with its report. */
	public Optional<JobRecord> find(String id) {
		return Optional.ofNullable(record(fields(id, ALL)));
	}

	/** The fields of a record by their names, and {@code age}. */
	private Map<String, byte[]> fields(String id, List<String> names) {
		List<?> values = Objects
			.requireNonNull(this.redis.execute(READ, key(id), names.stream().map(JobRecords::bytes).toArray()));
		Map<String, byte[]> fields = new HashMap<>();
		for (int i = 0; i < values.size(); i++) {
			if (values.get(i) instanceof byte[] value) {
				fields.put((i > 0) ? names.get(i - 1) : AGE, value);
			}
		}
		return fields;
	}

	/**
	 * Lists the jobs of a client, the newest first, without their reports.
	 * @param state their state; {@code null} for any
	 * @param kind their kind; {@code null} for any
	 * @param after the id after which the list begins; {@code null} for the newest job
	 * @param limit the most jobs to return
	 * @return the jobs found. If the list ends early because it has read as many records
	 * as it may, it has the id to continue from
	 */
	public Found list(String client, @Nullable JobState state, @Nullable JobKind kind, @Nullable String after,
			int limit) {
		List<JobRecord> found = new ArrayList<>();
		String last = after;
		int reads = 0;
		// Perhaps all jobs match: read no more than are wanted at first.
		int most = Math.min(limit, CHUNK);
		while (reads < MAX_READS) {
			List<String> ids = this.index.ids(client, last, most);
			for (JobRecord record : read(ids, (gone) -> this.index.removeExpired(client, gone))) {
				JobStatus status = record.status();
				if ((state == null || status.state() == state) && (kind == null || status.kind() == kind)) {
					found.add(record);
				}
				if (found.size() == limit) {
					return new Found(found, null);
				}
			}
			reads += ids.size();
			if (ids.size() < most) {
				return new Found(found, null);
			}
			last = ids.get(ids.size() - 1);
			most = CHUNK;
		}
		return new Found(found, last);
	}

	/**
	 * Reads records one by one on the shared connection, because a pipeline would open
	 * its own connection, in a cluster one to each node.
	 * @param gone takes the ids whose record has expired
	 */
	private List<JobRecord> read(List<String> ids, Consumer<String> gone) {
		List<JobRecord> records = new ArrayList<>();
		for (String id : ids) {
			Map<String, byte[]> fields = fields(id, WITHOUT_REPORT);
			JobRecord record = record(fields);
			if (record != null) {
				records.add(record);
			}
			else if (!fields.containsKey(STATUS)) {
				gone.accept(id);
			}
		}
		return records;
	}

	/** The status of a job; empty if it has no record. */
	public Optional<JobStatus> status(String id) {
		return read(List.of(id), (gone) -> {
		}).stream().map(JobRecord::status).findFirst();
	}

	/**
	 * Requests that a job is cancelled, at the instance that has the job now or resumes
	 * it later.
	 */
	public void cancel(String id) {
		this.redis.execute(SET, key(id), bytes(CANCELLED), bytes(Long.toString(System.currentTimeMillis())));
	}

	/**
	 * Requests another rate limit of a job.
	 * @param perSecond records per second; 0 for no limit
	 */
	public void requestRateLimit(String id, long perSecond) {
		this.redis.execute(SET, key(id), bytes(RATE_LIMIT), bytes(Long.toString(perSecond)));
	}

	/**
	 * Marks a job as failed whose process has ended and whose files no instance can
	 * resume.
	 * @param reason what happened and what to do, a message for the caller
	 */
	public void lost(String id, String reason) {
		find(id).filter((job) -> job.cancelled() == null)
			.filter((job) -> job.status().state().isActive() || job.status().state() == JobState.INTERRUPTED)
			.ifPresent((job) -> write(job.client(),
					job.status().ended(JobState.FAILED, System.currentTimeMillis(), new EndReason("gone", reason)),
					job.report(), false, false, this.callbacks.url(id), null, null));
	}

	private @Nullable JobRecord record(Map<String, byte[]> fields) {
		byte[] status = fields.get(STATUS);
		String instance = text(fields, INSTANCE);
		byte[] report = fields.get(REPORT);
		byte[] warnings = fields.get(WARNINGS);
		if (status == null || instance == null) {
			return null;
		}
		try {
			boolean alive = Long.parseLong(Objects.requireNonNull(text(fields, AGE))) < this.lease.toMillis()
					|| this.redis.isBackSince(this.lease);
			JobRecord record = new JobRecord(Objects.requireNonNullElse(text(fields, CLIENT), Client.NONE),
					this.mapper.readValue(status, JobStatus.class), instance, alive, text(fields, CANCELLED),
					text(fields, REQUEST), "1".equals(text(fields, UNSENT)), fields.containsKey(RESUMABLE),
					(report != null && warnings != null)
							? new StoredReport(List.of(this.mapper.readValue(warnings, Warning[].class)),
									() -> ReportBytes.inflate(report), null)
							: null,
					this.callbacks.state(fields));
			return (alive && record.status().state().isActive()) ? record : withoutProcess(record);
		}
		catch (JacksonException ex) {
			// Instances of two versions share a control Redis during an update.
			logger.debug("A record of {} has the format of another version, and is left out", instance, ex);
			return null;
		}
	}

	/**
	 * Marks a job without a live process as interrupted or cancelled, unless it has
	 * ended.
	 */
	private static JobRecord withoutProcess(JobRecord record) {
		JobStatus last = record.status();
		if (last.state().isActive()) {
			last = last.interrupted("The job was " + last.state().label() + " at " + record.instance()
					+ ", whose process has ended or cannot reach the control Redis: at least the records"
					+ " that are applied here have run, and more may have");
		}
		if (last.state() == JobState.INTERRUPTED && record.cancelled() != null) {
			last = last.ended(JobState.CANCELLED, Long.valueOf(record.cancelled()),
					new EndReason(Cause.CANCELLED.problemType(),
							"The job was cancelled by DELETE /v1/jobs/" + last.jobId() + ", and " + record.instance()
									+ ", which ran it, has ended: at least the records that are applied here have run,"
									+ " and more may have"));
		}
		return record.with(last);
	}

	private String key(String id) {
		return this.redis.key("job", id);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

	private static @Nullable String text(Map<String, byte[]> fields, String name) {
		byte[] text = fields.get(name);
		return (text != null) ? text(text) : null;
	}

	/**
	 * The changes that other instances have requested for a job.
	 *
	 * @param rateLimit records per second, 0 for no limit; {@code null} if no change was
	 * requested
	 */
	public record Wishes(boolean cancelled, @Nullable Long rateLimit) {

		static final Wishes NONE = new Wishes(false, null);

	}

	/**
	 * What the record of a job with an idempotency key has for its repeats.
	 *
	 * @param unsent whether the job cannot have written to the data Redis
	 * @param request the digest of its request; {@code null} before it is known
	 */
	public record KeyState(boolean unsent, @Nullable String request) {

	}

	/**
	 * A part of the list of jobs.
	 *
	 * @param next the id after which to continue; {@code null} if there are no more, or
	 * if the limit was reached
	 */
	public record Found(List<JobRecord> jobs, @Nullable String next) {

	}

}
