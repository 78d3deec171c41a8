package io.pipeset.pipeline;

import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;

/**
 * The number by which a server knows a connection, and the life of that server.
 *
 * @param clientId what <a href="https://redis.io/docs/latest/commands/client-id/">CLIENT
 * ID</a> says: never given to another connection while the server runs
 * @param runId the {@code run_id} of that life of the server, after whose end the numbers
 * begin anew; {@code null} where INFO is not permitted, or was not answered yet
 */
record ClientIdentity(long clientId, @Nullable String runId) {

	private static final Map<StatefulConnection<?, ?>, ClientIdentity> KNOWN = Collections
		.synchronizedMap(new WeakHashMap<>());

	/**
	 * Finds out the identity when a connection is used for the first time. The number is
	 * part of the handshake, which even a busy server answers.
	 * @param connection an open connection without commands on their way
	 * @return the identity, empty where the server does not permit to ask for it
	 * @throws RedisCallException if there is no answer, or none yet
	 */
	static Optional<ClientIdentity> of(CallConnection connection) {
		ClientIdentity known = KNOWN.get(connection.connection());
		if (known != null) {
			return Optional.of(known);
		}
		Long clientId = connection.idFromHandshake();
		try {
			if (clientId == null) {
				clientId = connection.call(RedisAsyncCommands::clientId);
			}
			return Optional.of(known(connection, clientId, ServerInfo.ask(connection).runId()));
		}
		catch (RedisCallException ex) {
			if (ex.code() == null || (clientId == null && ex.isPassing())) {
				throw ex;
			}
			if (clientId == null) {
				return Optional.empty();
			}
			// A server that is busy or loading is asked again by the next batch.
			return Optional
				.of((ex.isPassing()) ? new ClientIdentity(clientId, null) : known(connection, clientId, null));
		}
	}

	private static ClientIdentity known(CallConnection connection, long clientId, @Nullable String runId) {
		ClientIdentity identity = new ClientIdentity(clientId, runId);
		KNOWN.put(connection.connection(), identity);
		return identity;
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
