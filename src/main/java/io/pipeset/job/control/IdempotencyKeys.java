package io.pipeset.job.control;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.stereotype.Component;

/**
 * The idempotency keys of requests, in the control Redis. A key belongs to the first job
 * that claims it. When the job has ended, the key stores the response for repeats.
 * <p>
 * The process of a job also holds its key in memory until the control Redis has the
 * response. It renews the claim while the job runs, and it answers repeats without the
 * control Redis. So no request runs twice if the control Redis is emptied or cannot be
 * reached.
 * <p>
 * Every method that changes a key throws {@link ControlRedisException} if the control
 * Redis cannot be reached, or refuses. The change may then have been made or not. The
 * caller may repeat {@link #claim}; {@link #settle()} repeats the other changes.
 */
@Component
public class IdempotencyKeys {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyKeys.class);

	/** How long a claim lasts without renewal. */
	private static final Duration CLAIM_TIME = Duration.ofDays(7);

	/** The most bytes of responses that wait for the control Redis with their lists. */
	private static final long MAX_WAITING_BYTES = 16 << 20;

	private static final String JOB = "job";

	private static final String LEASE = "lease";

	/** 1 while the job cannot have written to the data Redis. */
	private static final String UNSENT = "unsent";

	private static final String FINGERPRINT = "fingerprint";

	private static final String HEAD = "head";

	private static final String BODY = "body";

	/**
	 * Claims a key, or renews the claim. The last argument is a job whose process is
	 * dead; the script takes the key from this job if it is unsent.
	 */
	private static final RedisScript<Long> CLAIM = RedisScript.of("""
			local job = redis.call('HGET', KEYS[1], 'job')
			if job and job ~= ARGV[2] then
				if job ~= ARGV[5] or redis.call('HGET', KEYS[1], 'unsent') ~= '1' then return 0 end
				redis.call('DEL', KEYS[1])
			end
			redis.call('HSET', KEYS[1], 'job', ARGV[2], 'lease', ARGV[3], 'unsent', ARGV[4])
			redis.call('PEXPIRE', KEYS[1], ARGV[1])
			return 1""", Long.class);

	private static final RedisScript<Long> SETTLE = RedisScript.of("""
			local job = redis.call('HGET', KEYS[1], 'job')
			if job and job ~= ARGV[2] then return 0 end
			redis.call('HSET', KEYS[1], 'job', ARGV[2], 'unsent', '0', unpack(ARGV, 3))
			redis.call('PEXPIRE', KEYS[1], ARGV[1])
			return 1""", Long.class);

	private static final RedisScript<Long> RELEASE = RedisScript.of("""
			if redis.call('HGET', KEYS[1], 'job') ~= ARGV[1] then return 0 end
			return redis.call('DEL', KEYS[1])""", Long.class);

	private final ControlRedis redis;

	private final JobRecords records;

	private final Duration retention;

	/** The keys of this process that are not settled or released yet, by job id. */
	private final Map<String, OwnKey> own = new ConcurrentHashMap<>();

	IdempotencyKeys(ControlRedis redis, JobRecords records, RecordProperties properties) {
		this.redis = redis;
		this.records = records;
		this.retention = properties.retention();
	}

	/**
	 * Finds the job of this process that has a key, without the control Redis.
	 * @return {@code null} if there is none
	 */
	public @Nullable Claim own(String key) {
		return this.own.values()
			.stream()
			.filter((own) -> own.key.equals(key) && own.claimed && !own.released)
			.findFirst()
			.map(OwnKey::claim)
			.orElse(null);
	}

	/**
	 * Claims a key for a job, under the lease of this process.
	 * @return the claim of the other job that has the key; {@code null} if this job has
	 * it now
	 */
	public @Nullable Claim claim(String key, String jobId) {
		if (waitingBytes() > MAX_WAITING_BYTES) {
			throw new ControlRedisException("The control Redis at " + this.redis.address()
					+ " has not taken the answers to earlier requests yet, and no more may wait for it", null);
		}
		this.own.values()
			.stream()
			.filter((own) -> own.key.equals(key) && own.released)
			.forEach((own) -> write(own, ""));
		OwnKey own = new OwnKey(key, jobId);
		this.own.put(jobId, own);
		Claim other = claim(own);
		if (other != null) {
			this.own.remove(jobId);
		}
		return other;
	}

	private @Nullable Claim claim(OwnKey own) {
		String deadJob = "";
		// Another job may release the key between the two steps.
		while (!write(own, deadJob)) {
			Map<String, byte[]> found = this.redis
				.call((template) -> template.<String, byte[]>opsForHash().entries(name(own.key)));
			byte[] job = found.get(JOB);
			byte[] lease = found.get(LEASE);
			if (job != null) {
				Answer answer = answer(found);
				// Another process may have resumed the job since it claimed the key.
				JobState state = (answer != null) ? null
						: this.records.status(text(job)).map(JobStatus::state).orElse(null);
				boolean runs = answer == null && ((state != null && state.isActive())
						|| (lease != null && this.records.isAlive(text(lease))));
				if (answer != null || runs || !Arrays.equals(found.get(UNSENT), bytes(1))) {
					return new Claim(text(job), runs, state, answer);
				}
				deadJob = text(job);
			}
		}
		return null;
	}

	private static @Nullable Answer answer(Map<String, byte[]> found) {
		byte[] fingerprint = found.get(FINGERPRINT);
		byte[] head = found.get(HEAD);
		byte[] body = found.get(BODY);
		return (fingerprint != null && head != null && body != null)
				? new Answer(text(fingerprint), text(head), () -> ReportBytes.inflate(body)) : null;
	}

	/**
	 * Marks the key of a job as sent. The job must not write to the data Redis before
	 * this returns {@code true}, because the key of an unsent job is free once its
	 * process dies.
	 * @return {@code false} if another job has the key by now
	 */
	public boolean begin(String jobId) {
		return step(jobId, (own) -> own.unsent = false);
	}

	/**
	 * Stores the response to a request for {@code pipeset.jobs.retention}.
	 * @param fingerprint the digest that a repeat must have as well
	 * @param head the response without its body, in a format of the caller of this method
	 * @param body the body, compressed by {@link ReportBytes}
	 * @param shorter makes a shorter body, used if too many bytes wait in memory
	 * @return {@code false} if the control Redis lost the key and another job has it
	 */
	public boolean settle(String jobId, String fingerprint, String head, byte[] body, Supplier<byte[]> shorter) {
		try {
			return step(jobId, (own) -> own.answer = new StoredAnswer(fingerprint, head, body));
		}
		catch (ControlRedisException ex) {
			logger.atWarn()
				.addKeyValue("jobId", jobId)
				.log("The answer for the Idempotency-Key of job {} waits in memory. {}", jobId, ex.getMessage());
			OwnKey own = this.own.get(jobId);
			if (own != null && waitingBytes() > MAX_WAITING_BYTES) {
				own.answer = new StoredAnswer(fingerprint, head, shorter.get());
			}
			throw ex;
		}
	}

	/** Releases the key of a job: the next request may claim it. */
	public void release(String jobId) {
		step(jobId, (own) -> own.released = true);
	}

	/** Whether no response and no release of a key waits for the control Redis. */
	public boolean isIdle() {
		return this.own.values().stream().noneMatch(OwnKey::hasEnded);
	}

	/** Writes the responses and releases that wait for the control Redis. */
	public void settle() {
		write(OwnKey::hasEnded);
	}

	/** Renews the claims of running jobs, which the control Redis may have lost. */
	public void renew() {
		write((own) -> own.claimed && !own.hasEnded());
	}

	/** Writes keys; if one of them fails, the others are still written. */
	private void write(Predicate<OwnKey> which) {
		this.own.values().stream().filter(which).forEach((own) -> {
			try {
				write(own, "");
			}
			catch (ControlRedisException ex) {
				logger.debug("A key could not be written to the control Redis, and is tried again later", ex);
			}
		});
	}

	private boolean step(String jobId, Consumer<OwnKey> change) {
		OwnKey own = this.own.get(jobId);
		if (own == null) {
			return true;
		}
		change.accept(own);
		return write(own, "");
	}

	/**
	 * Writes the state of a key to the control Redis.
	 * @param deadJob the id of a dead job from which the key may be taken; empty if there
	 * is none
	 * @return {@code false} if another job has the key
	 */
	private boolean write(OwnKey own, String deadJob) {
		synchronized (own) {
			StoredAnswer answer = own.answer;
			boolean ended = own.hasEnded();
			boolean owned = true;
			if (own.written) {
				return true;
			}
			if (own.released) {
				run(RELEASE, own.key, bytes(own.jobId));
			}
			else if (answer != null) {
				owned = run(SETTLE, own.key, bytes(this.retention.toMillis()), bytes(own.jobId), bytes(FINGERPRINT),
						bytes(answer.fingerprint), bytes(HEAD), bytes(answer.head), bytes(BODY), answer.body) == 1;
			}
			else {
				owned = run(CLAIM, own.key, bytes(CLAIM_TIME.toMillis()), bytes(own.jobId), bytes(this.records.lease()),
						bytes((own.unsent) ? 1 : 0), bytes(deadJob)) == 1;
			}
			if (owned) {
				own.claimed = true;
			}
			else if (own.claimed && !own.lost) {
				own.lost = true;
				logger.atWarn()
					.addKeyValue("jobId", own.jobId)
					.log("The control Redis has lost the Idempotency-Key of job {}, and another request has it now:"
							+ " that one may have run as well", own.jobId);
			}
			if (ended) {
				own.written = true;
				this.own.remove(own.jobId);
			}
			return owned;
		}
	}

	private long waitingBytes() {
		return this.own.values()
			.stream()
			.map((own) -> own.answer)
			.mapToLong((kept) -> (kept != null) ? kept.body.length : 0)
			.sum();
	}

	@PreDestroy
	void end() {
		this.own.values().forEach((own) -> {
			if (own.answer != null) {
				logger.atWarn()
					.addKeyValue("jobId", own.jobId)
					.log("The answer for the Idempotency-Key of job {} is lost: the control Redis did not take it before"
							+ " this process ended", own.jobId);
			}
		});
	}

	private long run(RedisScript<Long> script, String key, Object... arguments) {
		return this.redis.call(
				(template) -> Long.parseLong(String.valueOf(template.execute(script, List.of(name(key)), arguments))));
	}

	/** Hashes the key, to bound its size and hide the caller's text. */
	private String name(String key) {
		try {
			byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes(key));
			return this.redis.key("key", HexFormat.of().formatHex(hash));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

	private static byte[] bytes(Object text) {
		return text.toString().getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * The claim of a job that has the key already.
	 *
	 * @param runs whether there is no response yet and the job, or the process that
	 * claimed the key, is alive
	 * @param state the state of the job; {@code null} if it has a response, or its state
	 * is unknown
	 * @param answer the response to the job's request; {@code null} if there is none yet
	 */
	public record Claim(String jobId, boolean runs, @Nullable JobState state, @Nullable Answer answer) {

	}

	/**
	 * The stored response to a request.
	 *
	 * @param fingerprint the digest that a repeat must have as well
	 * @param head the response without its body
	 * @param body opens the body
	 */
	public record Answer(String fingerprint, String head, Supplier<InputStream> body) {

	}

	/** A response that is to be stored in the control Redis. */
	private static final class StoredAnswer {

		private final String fingerprint;

		private final String head;

		private final byte[] body;

		private StoredAnswer(String fingerprint, String head, byte[] body) {
			this.fingerprint = fingerprint;
			this.head = head;
			this.body = body;
		}

	}

	/** The key of a job of this process. */
	private static final class OwnKey {

		private final String key;

		private final String jobId;

		private volatile boolean unsent = true;

		private volatile @Nullable StoredAnswer answer;

		/** Whether the key is to be released. */
		private volatile boolean released;

		/** Whether this job has had the key in the control Redis. */
		private volatile boolean claimed;

		/** Whether another job has the key there. Guarded by this. */
		private boolean lost;

		/** Whether the response or the release was written. Guarded by this. */
		private boolean written;

		private OwnKey(String key, String jobId) {
			this.key = key;
			this.jobId = jobId;
		}

		private boolean hasEnded() {
			return this.released || this.answer != null;
		}

		/** The claim that repeats get. */
		private Claim claim() {
			StoredAnswer answer = this.answer;
			return new Claim(this.jobId, answer == null, null, (answer != null)
					? new Answer(answer.fingerprint, answer.head, () -> ReportBytes.inflate(answer.body)) : null);
		}

	}

}
