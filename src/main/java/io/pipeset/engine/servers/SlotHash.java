package io.pipeset.engine.servers;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.pipeset.engine.pipeline.call.RedisCallException;

/**
 * A hash of texts at the master of its slot. Each call may run twice: if its connection
 * breaks, it is made again at once. Each method throws {@link RedisCallException} if
 * Redis refuses or does not answer.
 */
public final class SlotHash {

	private final SlotCalls calls;

	private final int slot;

	private final byte[] key;

	/**
	 * Names a hash, which need not exist.
	 * @param slot the slot of the key; that of no key for a single server
	 */
	public SlotHash(SlotCalls calls, int slot, String key) {
		this.calls = calls;
		this.slot = slot;
		this.key = bytes(key);
	}

	/** All fields; none if there is no such hash. */
	public Map<String, String> fields() {
		Map<String, String> fields = new HashMap<>();
		call((redis) -> redis.hgetall(this.key)).forEach((field, value) -> fields.put(text(field), text(value)));
		return fields;
	}

	public void set(String field, String value) {
		call((redis) -> redis.hset(this.key, bytes(field), bytes(value)));
	}

	/** Sets a field, also if the call arrives late, only if it is not there. */
	public void setIfAbsent(String field, String value) {
		call((redis) -> redis.hsetnx(this.key, bytes(field), bytes(value)));
	}

	public void remove(Collection<String> fields) {
		if (!fields.isEmpty()) {
			byte[][] names = fields.stream().map(SlotHash::bytes).toArray(byte[][]::new);
			call((redis) -> redis.hdel(this.key, names));
		}
	}

	public void expire(Duration after) {
		call((redis) -> redis.pexpire(this.key, after.toMillis()));
	}

	/** Ensures that the server of the hash runs transactions for the service's user. */
	public void checkTransactions() {
		this.calls.master(this.slot).facts().checkTransactions();
	}

	@Override
	public String toString() {
		return text(this.key);
	}

	private <T> T call(Function<RedisAsyncCommands<byte[], byte[]>, RedisFuture<T>> command) {
		return this.calls.ask(this.slot, (calls, asking) -> calls.repeatable(asking, command));
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
