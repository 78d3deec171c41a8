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
 * The keys by which callers have a request run once, in the control Redis. A key belongs
 * to the job that claims it first, and in the end it has the answer to that job's
 * request.
 * <p>
 * The process of a job knows its key as well, until the control Redis has the answer. It
 * writes the claim again while the job runs, and answers repeats by itself, so that a
 * control Redis that is emptied, or away, does not let the request run a second time.
 * <p>
 * Every method that takes a key throws {@link ControlRedisException} if the control Redis
 * is not reached, or refuses. Then nobody knows whether the step was taken;
 * {@link #claim} can be taken again, and the others are by {@link #settle()}.
 */
@Component
public class IdempotencyKeys {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyKeys.class);

	/** A job may run for longer than its record is kept. */
	private static final Duration RUN = Duration.ofDays(7);

	/** The bytes of answers that wait for the control Redis with their lists. */
	private static final long MOST_WAITING_BYTES = 16 << 20;

	private static final String JOB = "job";

	private static final String LEASE = "lease";

	/** 1 as long as nothing of the job can have been written to the data's Redis. */
	private static final String UNSENT = "unsent";

	private static final String FINGERPRINT = "fingerprint";

	private static final String HEAD = "head";

	private static final String BODY = "body";

	/**
	 * Claims a key, or renews the claim. The last argument is a job whose process is
	 * dead, from which the key is taken if nothing of it was sent.
	 */
	private static final RedisScript<Long> HOLD = RedisScript.of("""
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

	/** The keys of this process that run, or have steps to take, by their jobs. */
	private final Map<String, Own> own = new ConcurrentHashMap<>();

	IdempotencyKeys(ControlRedis redis, JobRecords records, RecordProperties properties) {
		this.redis = redis;
		this.records = records;
		this.retention = properties.retention();
	}

	/**
	 * Finds a job of this process that has a key, without the control Redis.
	 * @return {@code null} if there is none
	 */
	public @Nullable Claim own(String key) {
		return this.own.values()
			.stream()
			.filter((own) -> own.key.equals(key) && own.claimed && !own.released)
			.findFirst()
			.map(Own::claim)
			.orElse(null);
	}

	/**
	 * Claims a key for a job, under the lease of this process.
	 * @return the job that has it; {@code null} if this one has it now
	 */
	public @Nullable Claim claim(String key, String jobId) {
		if (waitingBytes() > MOST_WAITING_BYTES) {
			throw new ControlRedisException("The control Redis at " + this.redis.address()
					+ " has not taken the answers to earlier requests yet, and no more may wait for it", null);
		}
		this.own.values()
			.stream()
			.filter((own) -> own.key.equals(key) && own.released)
			.forEach((own) -> write(own, ""));
		Own mine = new Own(key, jobId);
		this.own.put(jobId, mine);
		Claim other = claim(mine);
		if (other != null) {
			this.own.remove(jobId);
		}
		return other;
	}

	private @Nullable Claim claim(Own mine) {
		String free = "";
		// A key may be given back between the two steps.
		while (!write(mine, free)) {
			Map<String, byte[]> found = this.redis
				.call((template) -> template.<String, byte[]>opsForHash().entries(name(mine.key)));
			byte[] job = found.get(JOB);
			byte[] lease = found.get(LEASE);
			if (job != null) {
				Answer answer = answer(found);
				// Another process may have gone on with a job since the key was claimed.
				JobState state = (answer != null) ? null
						: this.records.status(text(job)).map(JobStatus::state).orElse(null);
				boolean runs = answer == null && ((state != null && state.isActive())
						|| (lease != null && this.records.isAlive(text(lease))));
				if (answer != null || runs || !Arrays.equals(found.get(UNSENT), bytes(1))) {
					return new Claim(text(job), runs, state, answer);
				}
				free = text(job);
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
	 * The job is about to write to the data's Redis for the first time. It must not
	 * before this has returned {@code true}: a key whose process dies earlier is free.
	 * @return {@code false} if another job has the key by now
	 */
	public boolean begin(String jobId) {
		return step(jobId, (own) -> own.unsent = false);
	}

	/**
	 * Keeps the answer to a request, for {@code pipeset.jobs.retention}.
	 * @param fingerprint what a repeat has to agree with
	 * @param head the answer but for its body, in the words of whoever reads it
	 * @param body the body, as {@link ReportBytes} makes it
	 * @param shorter makes the one to keep if too many wait for the control Redis
	 * @return {@code false} if another job has the key, since it was lost in between
	 */
	public boolean settle(String jobId, String fingerprint, String head, byte[] body, Supplier<byte[]> shorter) {
		try {
			return step(jobId, (own) -> own.answer = new Kept(fingerprint, head, body));
		}
		catch (ControlRedisException ex) {
			logger.atWarn()
				.addKeyValue("jobId", jobId)
				.log("The answer for the Idempotency-Key of job {} waits in memory. {}", jobId, ex.getMessage());
			Own own = this.own.get(jobId);
			if (own != null && waitingBytes() > MOST_WAITING_BYTES) {
				own.answer = new Kept(fingerprint, head, shorter.get());
			}
			throw ex;
		}
	}

	/** Gives a key back: the next request may have it. */
	public void release(String jobId) {
		step(jobId, (own) -> own.released = true);
	}

	/** Whether no answer waits for the control Redis, and no key is to be given back. */
	public boolean isIdle() {
		return this.own.values().stream().noneMatch(Own::hasEnded);
	}

	/** Keeps the answers that wait for the control Redis, and gives keys back. */
	public void settle() {
		write(Own::hasEnded);
	}

	/** Writes the claims of all jobs that run, which the control Redis may have lost. */
	public void renew() {
		write((own) -> own.claimed && !own.hasEnded());
	}

	/** A key for which the control Redis fails keeps no other waiting. */
	private void write(Predicate<Own> which) {
		this.own.values().stream().filter(which).forEach((own) -> {
			try {
				write(own, "");
			}
			catch (ControlRedisException ex) {
				logger.debug("A step in the control Redis is tried again", ex);
			}
		});
	}

	private boolean step(String jobId, Consumer<Own> change) {
		Own own = this.own.get(jobId);
		if (own == null) {
			return true;
		}
		change.accept(own);
		return write(own, "");
	}

	/**
	 * Writes how a key of this process stands.
	 * @param free a job from which the key may be taken
	 * @return {@code false} if another job has the key
	 */
	private boolean write(Own own, String free) {
		synchronized (own) {
			Kept answer = own.answer;
			boolean ended = own.hasEnded();
			boolean ours = true;
			if (own.written) {
				return true;
			}
			if (own.released) {
				run(RELEASE, own.key, bytes(own.jobId));
			}
			else if (answer != null) {
				ours = run(SETTLE, own.key, bytes(this.retention.toMillis()), bytes(own.jobId), bytes(FINGERPRINT),
						bytes(answer.fingerprint), bytes(HEAD), bytes(answer.head), bytes(BODY), answer.body) == 1;
			}
			else {
				ours = run(HOLD, own.key, bytes(RUN.toMillis()), bytes(own.jobId), bytes(this.records.lease()),
						bytes((own.unsent) ? 1 : 0), bytes(free)) == 1;
			}
			if (ours) {
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
			return ours;
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

	/** Keys are bounded, and nobody finds what callers have put into theirs. */
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
	 * The claim of another job.
	 *
	 * @param runs whether the job has not ended, or not long ago, and its instance is
	 * there
	 * @param state how the job stands if it has no answer; {@code null} if nobody knows
	 * @param answer the answer to the job's request; {@code null} if it has not ended
	 */
	public record Claim(String jobId, boolean runs, @Nullable JobState state, @Nullable Answer answer) {

	}

	/**
	 * The answer to the request that was run.
	 *
	 * @param fingerprint what a repeat has to agree with
	 * @param head the answer but for its body
	 * @param body opens the body
	 */
	public record Answer(String fingerprint, String head, Supplier<InputStream> body) {

	}

	/** An answer as the control Redis is to have it. */
	private static final class Kept {

		private final String fingerprint;

		private final String head;

		private final byte[] body;

		private Kept(String fingerprint, String head, byte[] body) {
			this.fingerprint = fingerprint;
			this.head = head;
			this.body = body;
		}

	}

	/** A key of a job of this process. */
	private static final class Own {

		private final String key;

		private final String jobId;

		private volatile boolean unsent = true;

		private volatile @Nullable Kept answer;

		/** Whether it is to be given back. */
		private volatile boolean released;

		/** Whether it was this job's in the control Redis. */
		private volatile boolean claimed;

		/** Whether it is another job's there. Guarded by this. */
		private boolean lost;

		/** Whether the control Redis has the last step. Guarded by this. */
		private boolean written;

		private Own(String key, String jobId) {
			this.key = key;
			this.jobId = jobId;
		}

		private boolean hasEnded() {
			return this.released || this.answer != null;
		}

		/** The claim for repeats. */
		private Claim claim() {
			Kept answer = this.answer;
			return new Claim(this.jobId, answer == null, null, (answer != null)
					? new Answer(answer.fingerprint, answer.head, () -> ReportBytes.inflate(answer.body)) : null);
		}

	}

}
