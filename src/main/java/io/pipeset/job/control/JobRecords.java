package io.pipeset.job.control;

import java.io.IOException;
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
 * The records of jobs in the control Redis, which every instance may read. Each is
 * written by the instance that holds its job, and by its process only, which has a lease:
 * a job that has not ended and whose lease is over was interrupted.
 * <p>
 * Each call uses one key at a time, so that any slot of a cluster may have it. Every
 * method throws {@link ControlRedisException} if the control Redis is not reached, or
 * refuses.
 */
@Component
public class JobRecords {

	private static final Logger logger = LoggerFactory.getLogger(JobRecords.class);

	/** The records that a list looks at in one go, and in all. */
	private static final int CHUNK = 200;

	private static final int MOST_LOOKS = 2_000;

	/** The requests that may wait for an instance, which takes all of them at once. */
	public static final int MOST_REQUESTS = 1_000;

	private static final String CLIENT = "client";

	/** The client of a record that has none, as a version without clients wrote it. */
	private static final byte[] NO_CLIENT = bytes("none");

	private static final String STATUS = "status";

	private static final String REPORT = "report";

	/** The warnings of the report. */
	private static final String WARNINGS = "warnings";

	private static final String INSTANCE = "instance";

	private static final String LEASE = "lease";

	/** When a caller cancelled the job at another instance. */
	private static final String CANCELLED = "cancelled";

	/** The pace that a caller has asked for at another instance. */
	private static final String PACE = "pace";

	/** The fields that tell how a job stands. */
	private static final List<String> STANDING = List.of(CLIENT, STATUS, INSTANCE, LEASE, CANCELLED);

	private static final RedisScript<Long> WRITE = RedisScript.of("""
			redis.call('HSET', KEYS[1], unpack(ARGV, 2))
			return redis.call('PEXPIRE', KEYS[1], ARGV[1])""", Long.class);

	private static final RedisScript<Long> ASK = RedisScript.of("""
			if redis.call('EXISTS', KEYS[1]) == 0 then
				return 0
			end
			redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
			return 1""", Long.class);

	private static final RedisScript<Long> ANSWER = RedisScript.of("""
			if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then
				return 0
			end
			return redis.call('HDEL', KEYS[1], ARGV[1])""", Long.class);

	private static final RedisScript<Long> REQUEST = RedisScript.of("""
			if redis.call('LLEN', KEYS[1]) >= tonumber(ARGV[3]) then
				return 0
			end
			redis.call('RPUSH', KEYS[1], ARGV[2])
			return redis.call('PEXPIRE', KEYS[1], ARGV[1])""", Long.class);

	private final ControlRedis redis;

	private final JobIndex index;

	private final JsonMapper mapper;

	private final Environment environment;

	private final Duration retention;

	private final Duration leaseTime;

	private final String lease = UUID.randomUUID().toString();

	/** Since when the lease was renewed each time before it was over. */
	private volatile long renewedSince = System.nanoTime();

	JobRecords(ControlRedis redis, JsonMapper mapper, Environment environment, RecordProperties properties) {
		this.redis = redis;
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
	 * Whether the process of a lease lives, as far as this one can tell. Leases run out
	 * while the control Redis is away, so that one that is not there says nothing before
	 * its process had the time to renew it.
	 */
	public boolean isAlive(String lease) {
		return this.redis.call((template) -> Boolean.TRUE.equals(template.hasKey(leaseKey(lease))))
				|| System.nanoTime() - this.renewedSince < this.leaseTime.toNanos();
	}

	/** The time for which a record lasts that is not written again. */
	public Duration retention() {
		return this.retention;
	}

	/** The time for which a lease lasts that is not renewed. */
	public Duration leaseTime() {
		return this.leaseTime;
	}

	/**
	 * Renews the lease of this process.
	 * @return {@code false} if it was over, or never there: the records that were written
	 * under it may be gone as well
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

	/** Ends the lease of this process: whatever it has not ended is interrupted. */
	public void endLease() {
		this.redis.call((template) -> template.delete(leaseKey(this.lease)));
	}

	/**
	 * Writes how a job stands, under the lease of this process.
	 * @param client the name of the client whose job it is
	 * @param report its last report; {@code null} if the one before stays
	 * @param enters whether the job is to stand in the list, which has to be asked for
	 * once in half the time of the retention
	 */
	public void write(String client, JobStatus status, @Nullable StoredReport report, boolean enters) {
		Long endedMillis = status.endedMillis();
		long left = (endedMillis != null) ? endedMillis - System.currentTimeMillis() : 0;
		String kept = Long.toString(Math.max(1, this.retention.toMillis() + left));
		List<Object> arguments = new ArrayList<>(
				List.of(bytes(kept), bytes(CLIENT), bytes(client), bytes(STATUS), this.mapper.writeValueAsBytes(status),
						bytes(INSTANCE), bytes(instance()), bytes(LEASE), bytes(this.lease)));
		byte[] compressed = compress(report);
		if (report != null && compressed != null) {
			arguments.addAll(List.of(bytes(REPORT), compressed, bytes(WARNINGS),
					this.mapper.writeValueAsBytes(report.warnings())));
		}
		eval(WRITE, key(status.jobId()), arguments.toArray());
		if (enters) {
			this.index.enter(client, status.jobId());
			if (!status.state().isActive()) {
				this.index.ended(client);
			}
		}
	}

	private static byte @Nullable [] compress(@Nullable StoredReport report) {
		try {
			return (report != null) ? report.compress() : null;
		}
		catch (IOException ex) {
			logger.warn("A report could not be read, and is not recorded: {}", ex.getMessage());
			return null;
		}
	}

	/** Takes ids out of the lists of clients whose records have expired. */
	public void tidy() {
		this.index.tidy();
	}

	/** Takes the record of a job back that has not begun. */
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
					fields.get(CANCELLED), fields.get(REPORT), fields.get(WARNINGS));
			return Optional.ofNullable(record)
				.map((found) -> (found.status().state().isActive() && isAlive(found.lease())) ? found
						: withoutProcess(found));
		});
	}

	/**
	 * Lists the jobs of a client, the newest first, without their reports.
	 * @param state their state; {@code null} for any
	 * @param kind their kind; {@code null} for any
	 * @param after the id behind which the list begins; {@code null} for the newest job
	 * @return so many jobs, or fewer. If it has looked at as many as it may, the list
	 * says where to go on
	 */
	public Found list(String client, @Nullable JobState state, @Nullable JobKind kind, @Nullable String after,
			int limit) {
		List<JobRecord> found = new ArrayList<>();
		String last = after;
		int looks = 0;
		Map<String, Boolean> leases = new HashMap<>();
		// All may be of that state, or few.
		int most = Math.min(limit, CHUNK);
		while (looks < MOST_LOOKS) {
			List<String> ids = this.index.ids(client, last, most);
			for (JobRecord record : read(ids, leases, (gone) -> this.index.forget(client, gone))) {
				JobStatus status = record.status();
				if ((state == null || status.state() == state) && (kind == null || status.kind() == kind)) {
					found.add(record);
				}
				if (found.size() == limit) {
					return new Found(found, null);
				}
			}
			looks += ids.size();
			if (ids.size() < most) {
				return new Found(found, null);
			}
			last = ids.get(ids.size() - 1);
			most = CHUNK;
		}
		return new Found(found, last);
	}

	/**
	 * Reads records one by one, on the connection that all callers share: a pipeline
	 * opens one of its own, and in a cluster one to each node.
	 * @param gone takes the ids that have no record any more
	 */
	private List<JobRecord> read(List<String> ids, Map<String, Boolean> leases, Consumer<String> gone) {
		List<JobRecord> records = new ArrayList<>();
		for (String id : ids) {
			List<byte @Nullable []> fields = this.redis
				.call((template) -> template.<String, byte[]>opsForHash().multiGet(key(id), STANDING));
			JobRecord record = record(fields.get(0), fields.get(1), fields.get(2), fields.get(3), fields.get(4), null,
					null);
			if (record != null) {
				records.add(record);
			}
			else if (fields.get(1) == null) {
				gone.accept(id);
			}
		}
		learn(records, leases);
		return records.stream()
			.map((record) -> (record.status().state().isActive() && leases.getOrDefault(record.lease(), false)) ? record
					: withoutProcess(record))
			.toList();
	}

	private void learn(Collection<JobRecord> records, Map<String, Boolean> leases) {
		records.stream()
			.filter((record) -> record.status().state().isActive())
			.map(JobRecord::lease)
			.distinct()
			.forEach((lease) -> leases.computeIfAbsent(lease, this::isAlive));
	}

	/** The job's status alone; empty if it is gone. */
	public Optional<JobStatus> status(String id) {
		return read(List.of(id), new HashMap<>(), (gone) -> {
		}).stream().map(JobRecord::status).findFirst();
	}

	/**
	 * Cancels a job: it stands in its record, for the instance that holds the job now, or
	 * later.
	 * @return {@code false} if as many requests wait for that instance as may
	 */
	public boolean cancel(JobRecord job) {
		return ask(job, CANCELLED, Long.toString(System.currentTimeMillis()));
	}

	/**
	 * Asks for another pace of a job.
	 * @param perSecond records a second; 0 for no limit
	 * @return {@code false} if as many requests wait for that instance as may
	 */
	public boolean pace(JobRecord job, long perSecond) {
		return ask(job, PACE, Long.toString(perSecond));
	}

	private boolean ask(JobRecord job, String field, String value) {
		String id = job.status().jobId();
		// In this order: the instance reads the record once it has the request, and once
		// it has written its lease there.
		eval(ASK, key(id), bytes(field), bytes(value));
		String lease = this.redis
			.call((template) -> Optional.ofNullable(template.<String, byte[]>opsForHash().get(key(id), LEASE)))
			.map(JobRecords::text)
			.orElse(job.lease());
		return eval(REQUEST, requestsKey(lease), bytes(Long.toString(this.leaseTime.toMillis() * 4)), bytes(id),
				bytes(Integer.toString(MOST_REQUESTS))) != 0;
	}

	/**
	 * The process of a job has ended, and left files that nobody can go on with.
	 * @param reason what happened and what to do, for the caller to read
	 */
	public void lost(String id, String reason) {
		// Its lease may not have ended yet.
		find(id).filter((job) -> job.status().state().isActive() || job.status().state() == JobState.INTERRUPTED)
			.ifPresent((job) -> write(job.client(),
					job.status().ended(JobState.FAILED, System.currentTimeMillis(), new EndReason("gone", reason)),
					null, false));
	}

	/**
	 * A job of this instance is cancelled: so it is if its process ends at this moment.
	 */
	public void cancelled(String id) {
		eval(ASK, key(id), bytes(CANCELLED), bytes(Long.toString(System.currentTimeMillis())));
	}

	/** What other instances have asked for a job. */
	public PendingChanges wishes(String id) {
		List<byte @Nullable []> fields = this.redis
			.call((template) -> template.<String, byte[]>opsForHash().multiGet(key(id), List.of(CANCELLED, PACE)));
		byte[] pace = fields.get(1);
		return new PendingChanges(fields.get(0) != null, (pace != null) ? Long.valueOf(text(pace)) : null);
	}

	/** A job has the pace that was asked for. */
	public void paced(String id, long perSecond) {
		eval(ANSWER, key(id), bytes(PACE), bytes(Long.toString(perSecond)));
	}

	/** The jobs for which other instances have asked something of this one. */
	public List<String> asked() {
		Optional<List<byte[]>> asked = this.redis.call((template) -> Optional
			.ofNullable(template.opsForList().leftPop(requestsKey(this.lease), MOST_REQUESTS)));
		return asked.orElse(List.of()).stream().map(JobRecords::text).toList();
	}

	private @Nullable JobRecord record(byte @Nullable [] client, byte @Nullable [] status, byte @Nullable [] instance,
			byte @Nullable [] lease, byte @Nullable [] cancelled, byte @Nullable [] report,
			byte @Nullable [] warnings) {
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
							: null);
		}
		catch (JacksonException ex) {
			// Instances of two versions may share a control Redis while one replaces the
			// other.
			logger.debug("A record of {} is not of this version, and is left out", text(instance), ex);
			return null;
		}
	}

	/**
	 * A job that no process runs: if it has not ended, it is interrupted, or cancelled.
	 */
	private static JobRecord withoutProcess(JobRecord record) {
		JobStatus last = record.status();
		if (last.state().isActive()) {
			last = last.interrupted("The job was " + last.state().label() + " at " + record.instance()
					+ ", whose process has ended, or does not reach the control Redis: at least the"
					+ " records that are applied here have run, and more may have");
		}
		if (last.state() == JobState.INTERRUPTED && record.cancelledMillis() != null) {
			last = last.ended(JobState.CANCELLED, record.cancelledMillis(),
					new EndReason(Cause.CANCELLED.problemType(),
							"The job was cancelled by DELETE /v1/jobs/" + last.jobId() + ", and " + record.instance()
									+ ", which had it, has ended: at least the records that are applied here have run,"
									+ " and more may have"));
		}
		return new JobRecord(record.client(), last, record.instance(), record.lease(), record.cancelledMillis(),
				record.report());
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
	 * What other instances have asked for a job.
	 *
	 * @param rateLimit records a second, 0 for no limit; {@code null} if nothing was
	 * asked
	 */
	public record PendingChanges(boolean cancelled, @Nullable Long rateLimit) {

	}

	/**
	 * A part of the list.
	 *
	 * @param next the id behind which to look on; {@code null} if all were looked at, or
	 * as many were found as were asked for
	 */
	public record Found(List<JobRecord> jobs, @Nullable String next) {

	}

}
