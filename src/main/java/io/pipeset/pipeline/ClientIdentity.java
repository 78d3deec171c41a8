package io.pipeset.pipeline;

import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;

/**
 * Who a connection is to the server that it leads to.
 *
 * @param clientId what <a href="https://redis.io/docs/latest/commands/client-id/">CLIENT
 * ID</a> says: never given to another connection while the server runs
 * @param runId the {@code run_id} of that life of the server, after whose end the numbers
 * begin anew; {@code null} where INFO is not permitted
 */
record ClientIdentity(long clientId, @Nullable String runId) {

	private static final Pattern RUN_ID = Pattern.compile("run_id:(\\w+)");

	private static final Map<StatefulConnection<?, ?>, ClientIdentity> KNOWN = Collections
		.synchronizedMap(new WeakHashMap<>());

	/**
	 * Asks the server, the first time a connection is used.
	 * @param connection an open connection without commands on their way
	 * @param patience how long to wait for an answer
	 * @return the identity, empty where the server does not tell or the connection is
	 * lost
	 * @throws TimeoutException if it does not answer in time
	 */
	static Optional<ClientIdentity> of(StatefulRedisConnection<byte[], byte[]> connection, Duration patience)
			throws TimeoutException {
		ClientIdentity known = KNOWN.get(connection);
		if (known != null) {
			return Optional.of(known);
		}
		RedisAsyncCommands<byte[], byte[]> commands = connection.async();
		RedisFuture<Long> clientId = commands.clientId();
		RedisFuture<String> info = commands.info("server");
		connection.flushCommands();
		try {
			Long id = answer(clientId, patience);
			String text = answer(info, patience);
			Matcher runId = RUN_ID.matcher((text != null) ? text : "");
			Optional<ClientIdentity> identity = Optional.ofNullable(id)
				.map((number) -> new ClientIdentity(number, (runId.find()) ? runId.group(1) : null));
			identity.ifPresent((now) -> KNOWN.put(connection, now));
			return identity;
		}
		catch (ExecutionException ex) {
			return Optional.empty();
		}
	}

	/**
	 * Waits for an answer.
	 * @param future a command on its way
	 * @param patience how long
	 * @return the answer, or {@code null} where the server refuses the command
	 * @throws ExecutionException if the connection is lost
	 * @throws TimeoutException if there is none in time
	 */
	private static <T> @Nullable T answer(RedisFuture<T> future, Duration patience)
			throws ExecutionException, TimeoutException {
		try {
			return future.get(patience.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof RedisCommandExecutionException) {
				return null;
			}
			throw ex;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new TimeoutException("Interrupted");
		}
	}

	/**
	 * Whether that server certainly ended since, and this connection with it.
	 * @param other a connection of now
	 * @return {@code false} where it may be the same life of the server
	 */
	boolean isOfAnotherLifeThan(ClientIdentity other) {
		return this.runId != null && other.runId != null && !this.runId.equals(other.runId);
	}

}
