package io.pipeset.keep.control;

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
 * An index of each client's job ids, which sort by time. When a reader finds an id
 * without a record, it removes the id.
 */
final class JobIndex {

	/** How many ids are checked for each job that ends, because each job adds one id. */
	private static final int SAMPLE = 5;

	private static final int MOST_CHECKED = 500;

	private static final RedisScript<Long> ADD = RedisScript.of("""
			redis.call('ZADD', KEYS[1], 0, ARGV[2])
			return redis.call('PEXPIRE', KEYS[1], ARGV[1])""", Long.class);

	private final ControlRedis redis;

	private final Duration retention;

	private final Predicate<String> recorded;

	/** How many ids of each client the next {@link #tidy} checks. */
	private final Map<String, Integer> unchecked = new ConcurrentHashMap<>();

	/**
	 * Creates the index.
	 * @param retention how long a record lasts after its last write
	 * @param recorded whether a job has a record
	 */
	JobIndex(ControlRedis redis, Duration retention, Predicate<String> recorded) {
		this.redis = redis;
		this.retention = retention;
		this.recorded = recorded;
	}

	/**
	 * Adds a job. The index expires after twice the retention, so it outlasts each record
	 * that is written within the next retention.
	 */
	void add(String client, String id) {
		this.redis.call((template) -> Objects.requireNonNull(template.execute(ADD, List.of(key(client)),
				bytes(Long.toString(this.retention.toMillis() * 2)), bytes(id))));
	}

	void remove(String client, String id) {
		this.redis.call((template) -> Optional.ofNullable(template.opsForZSet().remove(key(client), bytes(id))));
	}

	/** Removes a job without a record, unless its record is written meanwhile. */
	void removeExpired(String client, String id) {
		remove(client, id);
		if (this.recorded.test(id)) {
			add(client, id);
		}
	}

	/** Has some ids of a client checked, because one of its jobs ended. */
	void jobEnded(String client) {
		this.unchecked.merge(client, SAMPLE, Integer::sum);
	}

	/** Removes expired ids from indexes that no client lists. No job waits for this. */
	void tidy() {
		for (String client : List.copyOf(this.unchecked.keySet())) {
			Integer most = this.unchecked.remove(client);
			if (most != null) {
				tidy(client, Math.min(most, MOST_CHECKED));
			}
		}
	}

	private void tidy(String client, int most) {
		long size = this.redis.call((template) -> Objects.requireNonNull(template.opsForZSet().zCard(key(client))));
		long from = (size > most) ? ThreadLocalRandom.current().nextLong(size - most + 1) : 0;
		Set<byte[]> ids = this.redis.call(
				(template) -> Objects.requireNonNull(template.opsForZSet().range(key(client), from, from + most - 1)));
		ids.stream()
			.map(JobIndex::text)
			.filter((id) -> !this.recorded.test(id))
			.forEach((id) -> removeExpired(client, id));
	}

	/**
	 * The jobs of a client, the newest first.
	 * @param after the id after which the list begins; {@code null} for the newest job
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
