package io.pipeset.job.control;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

import io.pipeset.job.control.ReportBytes.ReportWriter;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.JobStatus.EndReason;
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
 * process that has a job writes its status. The process renews a lease: if the lease
 * expires before the job ends, the job is interrupted.
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

	/** The most requests that may wait for an instance. */
	public static final int MOST_REQUESTS = 1_000;

	static final String CLIENT = "client";

	/** The client of a record without one, which an older version wrote. */
	private static final byte[] NO_CLIENT = bytes("none");

	private static final String STATUS = "status";

	private static final String REPORT = "report";

	/** The warnings of the report. */
	private static final String WARNINGS = "warnings";

	private static final String INSTANCE = "instance";

	private static final String LEASE = "lease";

	/** When a caller cancelled the job at another instance. */
	private static final String CANCELLED = "cancelled";

	/**
	 * The rate limit that a caller has requested at another instance. Instances of other
	 * versions know the field by this name.
	 */
	private static final String RATE_LIMIT = "pace";

	/** The fields of a record without its report. */
	private static final List<String> WITHOUT_REPORT = List.of(CLIENT, STATUS, INSTANCE, LEASE, CANCELLED);

	/** Writes a record. */
	private static final RedisScript<Long> WRITE = RedisScript.of("""
			redis.call('HSET', KEYS[1], unpack(ARGV, 2))
			return redis.call('PEXPIRE', KEYS[1], ARGV[1])""", Long.class);

	private static final RedisScript<Long> SET_REQUEST = RedisScript.of("""
			if redis.call('EXISTS', KEYS[1]) == 0 then
				return 0
			end
			redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
			return 1""", Long.class);

	private static final RedisScript<Long> CLEAR_REQUEST = RedisScript.of("""
			if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then
				return 0
			end
			return redis.call('HDEL', KEYS[1], ARGV[1])""", Long.class);

	private static final RedisScript<Long> PUSH_REQUEST = RedisScript.of("""
			if redis.call('LLEN', KEYS[1]) >= tonumber(ARGV[3]) then
				return 0
			end
			redis.call('RPUSH', KEYS[1], ARGV[2])
			return redis.call('PEXPIRE', KEYS[1], ARGV[1])""", Long.class);

	private final ControlRedis redis;

	private final JobIndex index;

	private final CallbackQueue callbacks;

	private final JsonMapper mapper;

	private final Environment environment;

	private final Duration retention;

	private final Duration leaseTime;

	private final String lease = UUID.randomUUID().toString();

	/** Since when no lease of this process expired, by {@link System#nanoTime}. */
	private volatile long renewedSince = System.nanoTime();

	JobRecords(ControlRedis redis, JsonMapper mapper, Environment environment, RecordProperties properties,
			CallbackQueue callbacks) {
		this.redis = redis;
		this.callbacks = callbacks;
		this.mapper = mapper;
		this.environment = environment;
		this.retention = properties.retention();
		this.leaseTime = properties.lease();
		this.index = new JobIndex(redis, this.retention,
				(id) -> redis.call((template) -> Boolean.TRUE.equals(template.hasKey(key(id)))));
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

	/** The lease of this process. */
	String lease() {
		return this.lease;
	}

	/**
	 * Whether the process of a lease is alive. All leases expire while the control Redis
	 * cannot be reached. So for one lease time after that, every process counts as alive.
	 */
	public boolean isAlive(String lease) {
		return this.redis.call((template) -> Boolean.TRUE.equals(template.hasKey(leaseKey(lease))))
				|| System.nanoTime() - this.renewedSince < this.leaseTime.toNanos();
	}

	/** How long a record lasts after its last write. */
	public Duration retention() {
		return this.retention;
	}

	/** How long a lease lasts after its last renewal. */
	public Duration leaseTime() {
		return this.leaseTime;
	}

	/**
	 * Renews the lease of this process.
	 * @return {@code false} if the lease did not exist, because it is new or expired, or
	 * because the control Redis lost it, and perhaps records as well
	 */
	public boolean renewLease() {
		byte[] name = bytes(instance());
		boolean there = false;
		try {
			there = this.redis.call((template) -> Boolean.TRUE
				.equals(template.opsForValue().setIfPresent(leaseKey(this.lease), name, this.leaseTime)));
			if (!there) {
				this.redis.call((template) -> {
					template.opsForValue().set(leaseKey(this.lease), name, this.leaseTime);
					return true;
				});
			}
			return there;
		}
		finally {
			if (!there) {
				this.renewedSince = System.nanoTime();
			}
		}
	}

	/** Ends the lease of this process: its jobs that have not ended are interrupted. */
	public void endLease() {
		this.redis.call((template) -> template.delete(leaseKey(this.lease)));
	}

	/**
	 * Writes the status of a job, under the lease of this process.
	 * @param client the name of the client that owns the job
	 * @param report the last report; {@code null} to keep the one before
	 * @param enters whether to add the job to the list of its client, which must happen
	 * at least once in half the retention
	 * @param callback the URL that gets the report when the job has ended; {@code null}
	 * for none
	 */
	public void write(String client, JobStatus status, @Nullable StoredReport report, boolean enters,
			@Nullable String callback) {
		Long endedMillis = status.endedMillis();
		long left = (endedMillis != null) ? endedMillis - System.currentTimeMillis() : 0;
		long least = (callback != null && endedMillis != null) ? CallbackQueue.KEPT_FOR.toMillis() : 1;
		String kept = Long.toString(Math.max(least, this.retention.toMillis() + left));
		List<Object> arguments = new ArrayList<>(
				List.of(bytes(kept), bytes(CLIENT), bytes(client), bytes(STATUS), this.mapper.writeValueAsBytes(status),
						bytes(INSTANCE), bytes(instance()), bytes(LEASE), bytes(this.lease)));
		byte[] compressed = compress(report);
		if (report != null && compressed != null) {
			arguments.addAll(List.of(bytes(REPORT), compressed, bytes(WARNINGS),
					this.mapper.writeValueAsBytes(report.warnings())));
		}
		if (callback != null) {
			arguments.addAll(List.of(bytes(CallbackQueue.URL), bytes(callback)));
		}
		if (callback != null && endedMillis != null) {
			arguments.addAll(List.of(bytes(CallbackQueue.BODY), callbackBody(status, report)));
			this.callbacks.add(status.jobId(), client);
		}
		eval(WRITE, key(status.jobId()), arguments.toArray());
		if (enters) {
			this.index.add(client, status.jobId());
			if (!status.state().isActive()) {
				this.index.jobEnded(client);
			}
		}
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

	private long eval(RedisScript<Long> script, String key, Object... arguments) {
		return this.redis.call((template) -> Objects.requireNonNull(template.execute(script, List.of(key), arguments)));
	}

	/** Finds a job with its report. */
	public Optional<JobRecord> find(String id) {
		return this.redis.call((template) -> {
			Map<String, byte[]> fields = template.<String, byte[]>opsForHash().entries(key(id));
			JobRecord record = record(fields.get(CLIENT), fields.get(STATUS), fields.get(INSTANCE), fields.get(LEASE),
					fields.get(CANCELLED), fields.get(REPORT), fields.get(WARNINGS), this.callbacks.state(fields));
			return Optional.ofNullable(record)
				.map((found) -> (found.status().state().isActive() && isAlive(found.lease())) ? found
						: withoutProcess(found));
		});
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
		Map<String, Boolean> leases = new HashMap<>();
		// Perhaps all jobs match: read no more than are wanted at first.
		int most = Math.min(limit, CHUNK);
		while (reads < MAX_READS) {
			List<String> ids = this.index.ids(client, last, most);
			for (JobRecord record : read(ids, leases, (gone) -> this.index.removeExpired(client, gone))) {
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
	 * @param leases caches whether a lease is alive
	 * @param gone takes the ids whose record has expired
	 */
	private List<JobRecord> read(List<String> ids, Map<String, Boolean> leases, Consumer<String> gone) {
		List<JobRecord> records = new ArrayList<>();
		for (String id : ids) {
			List<byte @Nullable []> fields = this.redis
				.call((template) -> template.<String, byte[]>opsForHash().multiGet(key(id), WITHOUT_REPORT));
			JobRecord record = record(fields.get(0), fields.get(1), fields.get(2), fields.get(3), fields.get(4), null,
					null, null);
			if (record != null) {
				records.add(record);
			}
			else if (fields.get(1) == null) {
				gone.accept(id);
			}
		}
		queryLeases(records, leases);
		return records.stream()
			.map((record) -> (record.status().state().isActive() && leases.getOrDefault(record.lease(), false)) ? record
					: withoutProcess(record))
			.toList();
	}

	private void queryLeases(Collection<JobRecord> records, Map<String, Boolean> leases) {
		records.stream()
			.filter((record) -> record.status().state().isActive())
			.map(JobRecord::lease)
			.distinct()
			.forEach((lease) -> leases.computeIfAbsent(lease, this::isAlive));
	}

	/** The status of a job; empty if it has no record. */
	public Optional<JobStatus> status(String id) {
		return read(List.of(id), new HashMap<>(), (gone) -> {
		}).stream().map(JobRecord::status).findFirst();
	}

	/**
	 * Requests that a job is cancelled. The request is in its record, for the instance
	 * that has the job now or resumes it later.
	 * @return {@code false} if {@link #MOST_REQUESTS} wait for that instance already
	 */
	public boolean cancel(JobRecord job) {
		return request(job, CANCELLED, Long.toString(System.currentTimeMillis()));
	}

	/**
	 * Requests another rate limit of a job.
	 * @param perSecond records per second; 0 for no limit
	 * @return {@code false} if {@link #MOST_REQUESTS} wait for that instance already
	 */
	public boolean requestRateLimit(JobRecord job, long perSecond) {
		return request(job, RATE_LIMIT, Long.toString(perSecond));
	}

	private boolean request(JobRecord job, String field, String value) {
		String id = job.status().jobId();
		// The record first, then the request: the instance reads the record after it gets
		// a request, and after it has written its lease to the record.
		eval(SET_REQUEST, key(id), bytes(field), bytes(value));
		String lease = this.redis
			.call((template) -> Optional.ofNullable(template.<String, byte[]>opsForHash().get(key(id), LEASE)))
			.map(JobRecords::text)
			.orElse(job.lease());
		return eval(PUSH_REQUEST, requestsKey(lease), bytes(Long.toString(this.leaseTime.toMillis() * 4)), bytes(id),
				bytes(Integer.toString(MOST_REQUESTS))) != 0;
	}

	/**
	 * Marks a job as failed whose process has ended and whose files no instance can
	 * resume.
	 * @param reason what happened and what to do, a message for the caller
	 */
	public void lost(String id, String reason) {
		// Its lease may not have expired yet.
		find(id).filter((job) -> job.cancelledMillis() == null)
			.filter((job) -> job.status().state().isActive() || job.status().state() == JobState.INTERRUPTED)
			.ifPresent((job) -> write(job.client(),
					job.status().ended(JobState.FAILED, System.currentTimeMillis(), new EndReason("gone", reason)),
					job.report(), false, this.callbacks.url(id)));
	}

	/**
	 * Records that a job of this instance is cancelled, so that it counts as cancelled
	 * even if its process ends now.
	 */
	public void cancelled(String id) {
		eval(SET_REQUEST, key(id), bytes(CANCELLED), bytes(Long.toString(System.currentTimeMillis())));
	}

	/** The changes that other instances have requested for a job. */
	public PendingChanges wishes(String id) {
		List<byte @Nullable []> fields = this.redis.call(
				(template) -> template.<String, byte[]>opsForHash().multiGet(key(id), List.of(CANCELLED, RATE_LIMIT)));
		byte[] rateLimit = fields.get(1);
		return new PendingChanges(fields.get(0) != null, (rateLimit != null) ? Long.valueOf(text(rateLimit)) : null);
	}

	/** Removes a request for a rate limit that the job now has. */
	public void clearRateLimit(String id, long perSecond) {
		eval(CLEAR_REQUEST, key(id), bytes(RATE_LIMIT), bytes(Long.toString(perSecond)));
	}

	/** Takes the ids of this instance's jobs with requested changes. */
	public List<String> asked() {
		Optional<List<byte[]>> asked = this.redis.call((template) -> Optional
			.ofNullable(template.opsForList().leftPop(requestsKey(this.lease), MOST_REQUESTS)));
		return asked.orElse(List.of()).stream().map(JobRecords::text).toList();
	}

	private @Nullable JobRecord record(byte @Nullable [] client, byte @Nullable [] status, byte @Nullable [] instance,
			byte @Nullable [] lease, byte @Nullable [] cancelled, byte @Nullable [] report, byte @Nullable [] warnings,
			@Nullable CallbackState callback) {
		if (status == null || instance == null || lease == null) {
			return null;
		}
		try {
			return new JobRecord(text((client != null) ? client : NO_CLIENT),
					this.mapper.readValue(status, JobStatus.class), text(instance), text(lease),
					(cancelled != null) ? Long.valueOf(text(cancelled)) : null,
					(report != null && warnings != null)
							? new StoredReport(List.of(this.mapper.readValue(warnings, Warning[].class)),
									() -> ReportBytes.inflate(report), null)
							: null,
					callback);
		}
		catch (JacksonException ex) {
			// Instances of two versions share a control Redis during an update.
			logger.debug("A record of {} has the format of another version, and is left out", text(instance), ex);
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
		if (last.state() == JobState.INTERRUPTED && record.cancelledMillis() != null) {
			last = last.ended(JobState.CANCELLED, record.cancelledMillis(),
					new EndReason(Cause.CANCELLED.problemType(),
							"The job was cancelled by DELETE /v1/jobs/" + last.jobId() + ", and " + record.instance()
									+ ", which ran it, has ended: at least the records that are applied here have run,"
									+ " and more may have"));
		}
		return new JobRecord(record.client(), last, record.instance(), record.lease(), record.cancelledMillis(),
				record.report(), record.callback());
	}

	private String key(String id) {
		return this.redis.key("job", id);
	}

	private String leaseKey(String lease) {
		return this.redis.key("instance", lease);
	}

	private String requestsKey(String lease) {
		return this.redis.key("requests", lease);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

	/**
	 * The changes that other instances have requested for a job.
	 *
	 * @param rateLimit records per second, 0 for no limit; {@code null} if no change was
	 * requested
	 */
	public record PendingChanges(boolean cancelled, @Nullable Long rateLimit) {

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
