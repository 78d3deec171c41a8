package io.pipeset.keep.control;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import io.pipeset.keep.control.CallbackState.State;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.stereotype.Component;

/**
 * The callbacks of ended jobs in the control Redis, which any instance may send: a sorted
 * set of job ids, each followed by the name of its client, by the times of their next
 * attempts. All else about a callback is in the record of its job.
 * <p>
 * The set and the record are two keys, because the control Redis may be a cluster. An id
 * is added before its record is written. So an instance may find an id whose job has not
 * ended there, or whose callback is settled, and leaves it alone or removes it.
 */
@Component
public class CallbackQueue {

	/** How long a callback is retried after its first attempt. */
	public static final Duration RETRIED_FOR = Duration.ofHours(1);

	/** When a job that has not ended is looked at first. */
	private static final Duration FIRST_LOOK = Duration.ofSeconds(30);

	/** The least time that a record with a callback is kept. */
	static final Duration KEPT_FOR = RETRIED_FOR.plusMinutes(5);

	/** The URL of the callback, which may hold a secret. */
	static final String URL = "callback";

	/** The body of the callback, compressed. A job that has ended has it. */
	static final String BODY = "callbackBody";

	static final String STATE = "callbackState";

	/** When the first attempt ended, in milliseconds since 1970. */
	private static final String FIRST = "callbackFirst";

	/** How long the set is kept after the last change, so that none is left forever. */
	private static final Duration SET_KEPT_FOR = Duration.ofDays(31);

	private static final RedisScript<Long> ADD = RedisScript.of("""
			redis.call('ZADD', KEYS[1], ARGV[4], ARGV[2], ARGV[3])
			return redis.call('PEXPIRE', KEYS[1], ARGV[1])""", Long.class);

	/** The characters of a job's id. */
	private static final int ID = 36;

	/** As many due callbacks are looked at for clients whose turn it is. */
	private static final int MOST_LOOKED_AT = 10_000;

	/** Takes from each client in turn, but from none that is named after the numbers. */
	@SuppressWarnings("rawtypes")
	private static final RedisScript<List> CLAIM = RedisScript.of("""
			local full, queues, clients, claimed = {}, {}, {}, {}
			for i = 6, #ARGV do
				full[ARGV[i]] = true
			end
			for _, member in ipairs(redis.call('ZRANGE', KEYS[1], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, ARGV[5])) do
				local client = string.sub(member, ARGV[4] + 1)
				if not full[client] then
					if not queues[client] then
						queues[client] = {}
						clients[#clients + 1] = client
					end
					table.insert(queues[client], member)
				end
			end
			local turn = 0
			repeat
				local before = #claimed
				turn = turn + 1
				for _, client in ipairs(clients) do
					local member = queues[client][turn]
					if member and #claimed < tonumber(ARGV[3]) then
						claimed[#claimed + 1] = member
						redis.call('ZADD', KEYS[1], ARGV[2], member)
					end
				end
			until #claimed == before
			return claimed""", List.class);

	private static final RedisScript<Long> SET_STATE = RedisScript.of("""
			if redis.call('EXISTS', KEYS[1]) == 0 then
				return 0
			end
			if not redis.call('HGET', KEYS[1], ARGV[1]) then
				redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
			end
			redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])
			return 1""", Long.class);

	private final ControlRedis redis;

	private final JsonMapper mapper;

	CallbackQueue(ControlRedis redis, JsonMapper mapper) {
		this.redis = redis;
		this.mapper = mapper;
	}

	/**
	 * Adds a callback, unless it is there already.
	 * @param ended whether it is due now; if not, its job is looked at later, because its
	 * process may die
	 */
	void add(String jobId, String client, boolean ended) {
		long due = System.currentTimeMillis() + ((ended) ? 0 : FIRST_LOOK.toMillis());
		this.redis.call((template) -> Objects.requireNonNull(template.execute(ADD, List.of(key()),
				bytes(SET_KEPT_FOR.toMillis()), bytes(due), bytes(jobId + client), bytes((ended) ? "LT" : "NX"))));
	}

	/**
	 * Claims callbacks that are due, of each client in turn. No instance claims them
	 * again before the lease ends.
	 * @param most the most callbacks to claim, 1 or more
	 * @param full the names of clients that have to wait
	 * @return the ids of their jobs, each followed by the name of its client
	 * @throws ControlRedisException if the control Redis fails
	 */
	public List<String> claim(int most, Duration lease, Collection<String> full) {
		long now = System.currentTimeMillis();
		List<Object> arguments = new ArrayList<>(List.of(now, now + lease.toMillis(), most, ID, MOST_LOOKED_AT));
		arguments.addAll(full);
		List<?> due = this.redis.call((template) -> Objects.requireNonNull(
				template.execute(CLAIM, List.of(key()), arguments.stream().map(CallbackQueue::bytes).toArray())));
		return due.stream().map((id) -> new String((byte[]) id, StandardCharsets.UTF_8)).toList();
	}

	/** The id of the job of a callback that was claimed. */
	public static String jobId(String claimed) {
		return claimed.substring(0, Math.min(ID, claimed.length()));
	}

	/**
	 * Finds a callback that was claimed. A settled one, or one without a record, is
	 * removed.
	 * @param claimed the id of its job, followed by the name of its client
	 * @return empty if there is nothing to send now
	 * @throws ControlRedisException if the control Redis fails
	 */
	public Optional<PendingCallback> find(String claimed) {
		String jobId = jobId(claimed);
		List<byte @Nullable []> fields = fields(jobId, JobRecords.CLIENT, URL, BODY, STATE, FIRST);
		byte[] client = fields.get(0);
		byte[] url = fields.get(1);
		byte[] body = fields.get(2);
		byte[] first = fields.get(4);
		CallbackState state = state(fields.get(3));
		if (client == null || url == null || state.state() != State.PENDING) {
			remove(claimed);
			return Optional.empty();
		}
		if (body == null) {
			return Optional.empty();
		}
		try (InputStream json = ReportBytes.inflate(body)) {
			return Optional.of(new PendingCallback(jobId, text(client), text(url), text(json.readAllBytes()),
					state.attempts(), (first != null) ? Long.valueOf(text(first)) : null));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Records an attempt, and when the next one is due.
	 * @param millis when this attempt ended, in milliseconds since 1970
	 * @param next the time until the next attempt; {@code null} if there is none
	 * @throws ControlRedisException if the control Redis fails
	 */
	public void record(PendingCallback callback, CallbackState state, long millis, @Nullable Duration next) {
		this.redis
			.call((template) -> Objects.requireNonNull(template.execute(SET_STATE, List.of(recordKey(callback.jobId())),
					bytes(FIRST), bytes(millis), bytes(STATE), this.mapper.writeValueAsBytes(state))));
		if (next == null) {
			remove(callback.jobId() + callback.client());
		}
		else {
			postpone(callback, millis + next.toMillis());
		}
	}

	/**
	 * Sets when the next attempt is due, in milliseconds since 1970.
	 * @throws ControlRedisException if the control Redis fails
	 */
	public void postpone(PendingCallback callback, long dueMillis) {
		this.redis.call((template) -> Optional.ofNullable(
				template.opsForZSet().add(key(), bytes(callback.jobId() + callback.client()), (double) dueMillis)));
	}

	/**
	 * The state of a job's callback, which is pending if nothing is known of it.
	 * @throws ControlRedisException if the control Redis fails
	 */
	public CallbackState state(String jobId) {
		return state(fields(jobId, STATE).get(0));
	}

	/** The URL of a job's callback; {@code null} if it has none. */
	@Nullable String url(String jobId) {
		byte[] url = fields(jobId, URL).get(0);
		return (url != null) ? text(url) : null;
	}

	private CallbackState state(byte @Nullable [] json) {
		return (json != null) ? this.mapper.readValue(json, CallbackState.class) : CallbackState.NEW;
	}

	/**
	 * The state of a callback in the fields of a job's record.
	 * @return {@code null} if the job has no callback, or has not ended
	 */
	@Nullable CallbackState state(Map<String, byte[]> fields) {
		return (fields.containsKey(BODY)) ? state(fields.get(STATE)) : null;
	}

	private List<byte @Nullable []> fields(String jobId, String... names) {
		return this.redis
			.call((template) -> template.<String, byte[]>opsForHash().multiGet(recordKey(jobId), List.of(names)));
	}

	private void remove(String member) {
		this.redis.call((template) -> Optional.ofNullable(template.opsForZSet().remove(key(), bytes(member))));
	}

	private String key() {
		return this.redis.key("callbacks", "due");
	}

	private String recordKey(String jobId) {
		return this.redis.key("job", jobId);
	}

	private static byte[] bytes(Object value) {
		return String.valueOf(value).getBytes(StandardCharsets.UTF_8);
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

	/**
	 * A callback to send.
	 *
	 * @param client the name of the client that owns the job
	 * @param url the receiver, whose query may hold a secret
	 * @param body the JSON of the job without items and values
	 * @param attempts how often it was sent before
	 * @param firstMillis when the first attempt ended, in milliseconds since 1970;
	 * {@code null} before
	 */
	public record PendingCallback(String jobId, String client, String url, String body, int attempts,
			@Nullable Long firstMillis) {

	}

}
