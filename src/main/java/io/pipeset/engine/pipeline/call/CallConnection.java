package io.pipeset.engine.pipeline.call;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;

/**
 * A lent connection for single commands, each of which is answered before the next is
 * sent. No other class sends single commands. When this one gives up an answer, for
 * whatever reason, it closes the connection, whose next user would take the late answer
 * for its own.
 */
public final class CallConnection {

	private final String server;

	private final StatefulRedisConnection<byte[], byte[]> connection;

	private final Duration patience;

	/**
	 * Sends commands on a connection.
	 * @param server host and port of its server
	 * @param connection a lent connection without commands on their way
	 * @param patience how long an answer is waited for
	 */
	public CallConnection(String server, StatefulRedisConnection<byte[], byte[]> connection, Duration patience) {
		this.server = server;
		this.connection = connection;
		this.patience = patience;
	}

	/**
	 * Sends a command, and waits for its answer.
	 * @throws RedisCallException if Redis refuses the command, which leaves the
	 * connection open, or if there is no answer
	 */
	public <T> T call(Function<RedisAsyncCommands<byte[], byte[]>, RedisFuture<T>> command) {
		boolean answered = false;
		try {
			RedisFuture<T> answer = command.apply(this.connection.async());
			this.connection.flushCommands();
			T value = answer.get(this.patience.toNanos(), TimeUnit.NANOSECONDS);
			answered = true;
			return value;
		}
		catch (ExecutionException ex) {
			Throwable cause = NestedExceptionUtils.getMostSpecificCause(ex);
			answered = cause instanceof RedisCommandExecutionException;
			throw (answered) ? RedisCallException.refused(String.valueOf(cause.getMessage()), ex)
					: RedisCallException.lost(cause);
		}
		catch (TimeoutException ex) {
			throw RedisCallException.silent("Redis did not answer within " + this.patience.toMillis() + " ms", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw RedisCallException.silent("Interrupted while Redis had not answered yet", ex);
		}
		catch (RuntimeException ex) {
			throw RedisCallException.lost(ex);
		}
		finally {
			if (!answered) {
				close();
			}
		}
	}

	/**
	 * The number that Redis gave to the connection in the handshake.
	 * @return the client's id, or {@code null} where the server speaks RESP2 only
	 */
	@Nullable Long idFromHandshake() {
		return (this.connection instanceof StatefulRedisConnectionImpl<?, ?> connected)
				? connected.getConnectionState().getConnectionId() : null;
	}

	/** The host and port of the server. */
	String server() {
		return this.server;
	}

	public StatefulRedisConnection<byte[], byte[]> connection() {
		return this.connection;
	}

	/** Closes the connection for good: the pool will not lend it again. */
	void close() {
		CompletableFuture<Void> unused = this.connection.closeAsync();
	}

}
