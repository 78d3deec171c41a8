package io.pipeset.pipeline;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;

/**
 * Makes single calls apart from any job's batches. A connection on which one is not
 * answered is given up: whoever had it next would take the late answer for its own.
 */
public final class RedisCalls {

	private final Connections connections;

	private final Duration patience;

	/**
	 * Runs scripts.
	 * @param connections where the connections come from
	 * @param patience how long an answer is waited for
	 */
	RedisCalls(Connections connections, Duration patience) {
		this.connections = connections;
		this.patience = patience;
	}

	/**
	 * Runs a script that may be run again if its answer is lost, as it is once.
	 * @param lua the script, which answers an array
	 * @param keys its keys
	 * @param arguments its other arguments
	 * @return the array: numbers, byte arrays and such arrays
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public List<Object> repeatable(String lua, List<byte[]> keys, List<byte[]> arguments) {
		try {
			return once(lua, keys, arguments);
		}
		catch (RedisCallException ex) {
			if (ex.code() != null) {
				throw ex;
			}
			return once(lua, keys, arguments);
		}
	}

	/**
	 * Runs a script, and never twice.
	 * @param lua the script, which answers an array
	 * @param keys its keys
	 * @param arguments its other arguments
	 * @return the array: numbers, byte arrays and such arrays
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public List<Object> once(String lua, List<byte[]> keys, List<byte[]> arguments) {
		return call((connection) -> await(connection, connection.async()
			.eval(lua, ScriptOutputType.MULTI, keys.toArray(byte[][]::new), arguments.toArray(byte[][]::new))));
	}

	/**
	 * Runs a transaction of nothing.
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public void emptyTransaction() {
		call((connection) -> {
			await(connection, connection.async().multi());
			return await(connection, connection.async().exec());
		});
	}

	private <T> T call(Function<StatefulRedisConnection<byte[], byte[]>, T> call) {
		AtomicReference<@Nullable T> answer = new AtomicReference<>();
		AtomicReference<@Nullable RedisCallException> failure = new AtomicReference<>();
		try {
			this.connections.lend(FlushPolicy.each(), (connection) -> {
				try {
					answer.set(call.apply(connection));
				}
				catch (RedisCallException ex) {
					failure.set(ex);
				}
			});
		}
		catch (NoConnectionException ex) {
			throw new RedisCallException(null, "No connection to Redis: " + ex.getMessage(), ex);
		}
		RedisCallException failed = failure.get();
		T answered = answer.get();
		if (failed != null) {
			throw failed;
		}
		if (answered == null) {
			throw new RedisCallException(null, "The connection to Redis was lost", null);
		}
		return answered;
	}

	private <T> T await(StatefulRedisConnection<byte[], byte[]> connection, RedisFuture<T> answer) {
		try {
			connection.flushCommands();
			return answer.get(this.patience.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			Throwable cause = NestedExceptionUtils.getMostSpecificCause(ex);
			String message = String.valueOf(cause.getMessage());
			boolean refused = cause instanceof RedisCommandExecutionException;
			throw new RedisCallException((refused) ? SlabErrors.code(message) : null,
					((refused) ? "Redis refuses: " : "The connection to Redis was lost: ") + message, ex);
		}
		catch (RedisException | CancellationException ex) {
			throw new RedisCallException(null, "The connection to Redis was lost: " + ex.getMessage(), ex);
		}
		catch (TimeoutException ex) {
			CompletableFuture<Void> unused = connection.closeAsync();
			throw new RedisCallException(null, "Redis did not answer within " + this.patience.toMillis() + " ms", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			CompletableFuture<Void> unused = connection.closeAsync();
			throw new RedisCallException(null, "Interrupted", ex);
		}
	}

}
