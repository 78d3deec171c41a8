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
 * Sends single commands on a lent connection, each after the reply to the one before. No
 * other class sends single commands. If no reply comes in time, this class closes the
 * connection, because the next user of the connection would take the late reply for the
 * reply to its own command.
 */
public final class CallConnection {

	private final String server;

	private final StatefulRedisConnection<byte[], byte[]> connection;

	private final Duration replyTimeout;

	/**
	 * Uses a connection for single commands.
	 * @param server host and port of its server
	 * @param connection a lent connection without commands in flight
	 * @param replyTimeout how long to wait for each reply
	 */
	public CallConnection(String server, StatefulRedisConnection<byte[], byte[]> connection, Duration replyTimeout) {
		this.server = server;
		this.connection = connection;
		this.replyTimeout = replyTimeout;
	}

	/**
	 * Sends a command and waits for its reply.
	 * @throws RedisCallException if Redis refuses the command, which leaves the
	 * connection open, or if no reply comes, which closes the connection
	 */
	public <T> T call(Function<RedisAsyncCommands<byte[], byte[]>, RedisFuture<T>> command) {
		boolean answered = false;
		try {
			RedisFuture<T> reply = command.apply(this.connection.async());
			this.connection.flushCommands();
			T value = reply.get(this.replyTimeout.toNanos(), TimeUnit.NANOSECONDS);
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
			throw RedisCallException.silent("Redis did not answer within " + this.replyTimeout.toMillis() + " ms", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw RedisCallException.silent("Interrupted before Redis answered", ex);
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
	 * The client ID that Redis assigned in the handshake.
	 * @return the ID, or {@code null} if the server speaks only RESP2
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

	/** Closes the connection for good: the pool does not lend it again. */
	void close() {
		CompletableFuture<Void> unused = this.connection.closeAsync();
	}

}
