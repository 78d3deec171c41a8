package io.pipeset.control;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.stereotype.Component;

/**
 * The keys by which callers have a request run once, in the control Redis. A key belongs
 * to the job that claims it first, and in the end it has the answer to that job's
 * request.
 * <p>
 * Every method throws {@link ControlRedisException} if the control Redis is not reached,
 * or refuses. Then nobody knows whether the step was taken; it can be taken again.
 */
@Component
public class IdempotencyKeys {

	/** A job may run for longer than its record is kept. */
	private static final Duration RUN = Duration.ofDays(7);

	private static final String JOB = "job";

	private static final String LEASE = "lease";

	private static final String FINGERPRINT = "fingerprint";

	private static final String HEAD = "head";

	private static final String BODY = "body";

	private static final RedisScript<Long> CLAIM = RedisScript.of("""
			local job = redis.call('HGET', KEYS[1], 'job')
			if job and job ~= ARGV[2] then return 0 end
			redis.call('HSET', KEYS[1], 'job', ARGV[2], 'lease', ARGV[3])
			redis.call('PEXPIRE', KEYS[1], ARGV[1])
			return 1""", Long.class);

	private static final RedisScript<Long> SETTLE = RedisScript.of("""
			local job = redis.call('HGET', KEYS[1], 'job')
			if job and job ~= ARGV[2] then return 0 end
			redis.call('HSET', KEYS[1], 'job', ARGV[2], unpack(ARGV, 3))
			redis.call('PEXPIRE', KEYS[1], ARGV[1])
			return 1""", Long.class);

	private static final RedisScript<Long> RELEASE = RedisScript.of("""
			if redis.call('HGET', KEYS[1], 'job') ~= ARGV[1] then return 0 end
			return redis.call('DEL', KEYS[1])""", Long.class);

	private final ControlRedis redis;

	private final JobRecords records;

	private final Duration retention;

	IdempotencyKeys(ControlRedis redis, JobRecords records, RecordProperties properties) {
		this.redis = redis;
		this.records = records;
		this.retention = properties.retention();
	}

	/**
	 * Claims a key for a job, under the lease of this process.
	 * @return the job that has it; {@code null} if this one has it now
	 */
	public @Nullable Claim claim(String key, String jobId) {
		// A key may be given back between the two steps.
		while (run(CLAIM, key, bytes(RUN.toMillis()), bytes(jobId), bytes(this.records.lease())) == 0) {
			Map<String, byte[]> found = this.redis
				.call((template) -> template.<String, byte[]>opsForHash().entries(name(key)));
			byte[] job = found.get(JOB);
			byte[] lease = found.get(LEASE);
			if (job != null) {
				Answer answer = answer(found);
				// Another process may have gone on with a job since the key was claimed.
				JobState state = (answer != null) ? null
						: this.records.status(text(job)).map(JobStatus::state).orElse(null);
				boolean runs = answer == null && ((state != null && state.isActive())
						|| (lease != null && this.records.isAlive(text(lease))));
				return new Claim(text(job), runs, state, answer);
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
	 * Keeps the answer to a request, for {@code pipeset.jobs.retention}.
	 * @param fingerprint what a repeat has to agree with
	 * @param head the answer but for its body, in the words of whoever reads it
	 * @param body the body, as {@link ReportBytes} makes it
	 * @return {@code false} if another job has the key, since it was lost in between
	 */
	public boolean settle(String key, String jobId, String fingerprint, String head, byte[] body) {
		return run(SETTLE, key, bytes(this.retention.toMillis()), bytes(jobId), bytes(FINGERPRINT), bytes(fingerprint),
				bytes(HEAD), bytes(head), bytes(BODY), body) == 1;
	}

	/** Gives a key back: the next request may have it. */
	public void release(String key, String jobId) {
		run(RELEASE, key, bytes(jobId));
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

}
