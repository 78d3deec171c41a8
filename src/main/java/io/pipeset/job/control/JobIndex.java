package io.pipeset.job.control;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.springframework.data.domain.Range;
import org.springframework.data.domain.Range.Bound;
import org.springframework.data.redis.connection.Limit;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * The ids of each client's jobs, which sort by time. An id is there for as long as its
 * job has a record, and is taken out by those who find that it has none.
 */
final class JobIndex {

	/** The ids that are checked for each job that has ended, which has added one. */
	private static final int SAMPLE = 5;

	private static final int MOST_AT_ONCE = 500;

	private static final RedisScript<Long> ENTER = RedisScript.of("""
			redis.call('ZADD', KEYS[1], 0, ARGV[2])
			return redis.call('PEXPIRE', KEYS[1], ARGV[1])""", Long.class);

	private final ControlRedis redis;

	private final Duration retention;

	private final Predicate<String> recorded;

	/** How many ids of each client are still to be checked. */
	private final Map<String, Integer> ended = new ConcurrentHashMap<>();

	/**
	 * The index.
	 * @param retention how long a record lasts that is not written again
	 * @param recorded whether a job has a record
	 */
	JobIndex(ControlRedis redis, Duration retention, Predicate<String> recorded) {
		this.redis = redis;
		this.retention = retention;
		this.recorded = recorded;
	}

	/**
	 * Enters a job. The index outlasts each record that is written within half the time
	 * of its retention from now on.
	 */
	void enter(String client, String id) {
		this.redis.call((template) -> Objects.requireNonNull(template.execute(ENTER, List.of(key(client)),
				bytes(Long.toString(this.retention.toMillis() * 2)), bytes(id))));
	}

	void remove(String client, String id) {
		this.redis.call((template) -> Optional.ofNullable(template.opsForZSet().remove(key(client), bytes(id))));
	}

	/**
	 * Takes out a job that was found without a record. One whose record is written
	 * meanwhile stays.
	 */
	void forget(String client, String id) {
		remove(client, id);
		if (this.recorded.test(id)) {
			enter(client, id);
		}
	}

	/** A job of a client has ended, which makes room for looks at older ones. */
	void ended(String client) {
		this.ended.merge(client, SAMPLE, Integer::sum);
	}

	/** Keeps indexes short that no client lists. No job waits for it. */
	void tidy() {
		for (String client : List.copyOf(this.ended.keySet())) {
			Integer most = this.ended.remove(client);
			if (most != null) {
				tidy(client, Math.min(most, MOST_AT_ONCE));
			}
		}
	}

	private void tidy(String client, int most) {
		long size = this.redis.call((template) -> Objects.requireNonNull(template.opsForZSet().zCard(key(client))));
		long from = (size > most) ? ThreadLocalRandom.current().nextLong(size - most + 1) : 0;
		Set<byte[]> ids = this.redis.call(
				(template) -> Objects.requireNonNull(template.opsForZSet().range(key(client), from, from + most - 1)));
		ids.stream().map(JobIndex::text).filter((id) -> !this.recorded.test(id)).forEach((id) -> forget(client, id));
	}

	/**
	 * The jobs of a client, the newest first.
	 * @param after the id behind which they begin; {@code null} for the newest job
	 */
	List<String> ids(String client, @Nullable String after, int most) {
		Range<String> range = Range.of(Bound.unbounded(),
				(after != null) ? Bound.exclusive(after) : Bound.<String>unbounded());
		Set<byte[]> ids = this.redis.call((template) -> Objects
			.requireNonNull(template.opsForZSet().reverseRangeByLex(key(client), range, Limit.limit().count(most))));
		return ids.stream().map(JobIndex::text).toList();
	}

	private String key(String client) {
		return this.redis.key("jobs", URLEncoder.encode(client, StandardCharsets.UTF_8));
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
