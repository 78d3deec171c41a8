package io.pipeset.engine.pipeline.call;

import java.util.Optional;

import io.lettuce.core.KillArgs;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The number by which a server knows a connection, and the life of that server.
 *
 * @param clientId what <a href="https://redis.io/docs/latest/commands/client-id/">CLIENT
 * ID</a> says: never given to another connection while the server runs
 * @param runId the {@code run_id} of that life of the server, after whose end the numbers
 * begin anew; {@code null} where INFO is not permitted, or was not answered yet
 * @param version the version of the server; {@code null} in the same cases
 */
public record ClientIdentity(String node, long clientId, @Nullable String runId, @Nullable ServerVersion version) {

	private static final Logger logger = LoggerFactory.getLogger(ClientIdentity.class);

	/**
	 * Finds out the identity when a connection is used for the first time. The number is
	 * part of the handshake, which even a busy server answers.
	 * @param connection an open connection without commands on their way
	 * @return the identity, empty where the server does not permit to ask for it
	 * @throws RedisCallException if there is no answer, or none yet
	 */
	public static Optional<ClientIdentity> of(CallConnection connection) {
		ClientIdentity known = ConnectionMemory.of(connection.connection()).identity();
		if (known != null) {
			return Optional.of(known);
		}
		Long clientId = connection.idFromHandshake();
		try {
			if (clientId == null) {
				clientId = connection.call(RedisAsyncCommands::clientId);
			}
			ServerInfo info = ServerInfo.ask(connection);
			return Optional
				.of(known(connection, new ClientIdentity(connection.server(), clientId, info.runId(), info.product())));
		}
		catch (RedisCallException ex) {
			if (ex.code() == null || (clientId == null && ex.isTransient())) {
				throw ex;
			}
			if (clientId == null) {
				return Optional.empty();
			}
			ClientIdentity identity = new ClientIdentity(connection.server(), clientId, null, null);
			// A server that is busy or loading is asked again by the next batch.
			return Optional.of((ex.isTransient()) ? identity : known(connection, identity));
		}
	}

	/**
	 * Finds out the life of the server.
	 * @param connection an open connection without commands on their way
	 * @return its {@code run_id}; {@code null} where the server does not permit to ask
	 * for it
	 * @throws RedisCallException if there is no answer, or none yet
	 */
	public static @Nullable String life(CallConnection connection) {
		ClientIdentity identity = of(connection).orElse(null);
		if (identity == null || ConnectionMemory.of(connection.connection()).identity() != null) {
			return (identity != null) ? identity.runId() : null;
		}
		// The server was busy or loading a moment ago.
		return ServerInfo.ask(connection).runId();
	}

	private static ClientIdentity known(CallConnection connection, ClientIdentity identity) {
		ConnectionMemory.of(connection.connection()).identity(identity);
		return identity;
	}

	/**
	 * Whether that server certainly ended since, and this connection with it.
	 * @return {@code false} where it may be the same life of the server, or the other
	 * connection is one to another server, which says nothing about this one
	 */
	public boolean isOfAnotherLifeThan(ClientIdentity other) {
		return this.node.equals(other.node) && this.runId != null && other.runId != null
				&& !this.runId.equals(other.runId);
	}

	/**
	 * Has the server close this connection. It makes no difference whether it was still
	 * there.
	 * @return whether it certainly runs no more commands, which is {@code false} where
	 * the server does not permit to close it
	 * @throws RedisCallException if there is no answer, or none yet
	 */
	public boolean kill(CallConnection other) {
		try {
			other.call((commands) -> commands.clientKill(KillArgs.Builder.id(this.clientId)));
			return true;
		}
		catch (RedisCallException ex) {
			if (ex.isTransient()) {
				throw ex;
			}
			logger.warn("CLIENT KILL: {}. Commands of a connection that was lost may run late, over newer data."
					+ " Permit it by ACL SETUSER <user> +client|kill", ex.getMessage());
			return false;
		}
	}

}
