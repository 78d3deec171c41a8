package io.pipeset.engine.pipeline.call;

import java.util.Optional;

import io.lettuce.core.KillArgs;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Identifies a connection at a server: the client ID, and the run of the server that
 * assigned it.
 *
 * @param node host and port of the server
 * @param clientId the client ID from
 * <a href="https://redis.io/docs/latest/commands/client-id/">CLIENT ID</a>; unique while
 * the server runs
 * @param runId the server's {@code run_id}, which a restart changes; client IDs then
 * start again. {@code null} if INFO is not allowed or not answered yet
 * @param version the version of the server; {@code null} in the same cases
 */
public record ClientIdentity(String node, long clientId, @Nullable String runId, @Nullable ServerVersion version) {

	private static final Logger logger = LoggerFactory.getLogger(ClientIdentity.class);

	/**
	 * Determines the identity when a connection is used for the first time. The client ID
	 * comes from the handshake, which even a busy server answers.
	 * @param connection an open connection without commands in flight
	 * @return the identity; empty if the server does not permit the query
	 * @throws RedisCallException if the server does not answer, or cannot answer yet
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
			ServerInfo info = ServerInfo.query(connection);
			return Optional.of(remember(connection,
					new ClientIdentity(connection.server(), clientId, info.runId(), info.product())));
		}
		catch (RedisCallException ex) {
			if (ex.code() == null || (clientId == null && ex.isTransient())) {
				throw ex;
			}
			if (clientId == null) {
				return Optional.empty();
			}
			ClientIdentity identity = new ClientIdentity(connection.server(), clientId, null, null);
			// If the server is busy or loading, the next batch asks again.
			return Optional.of((ex.isTransient()) ? identity : remember(connection, identity));
		}
	}

	/**
	 * Determines the identity with the run of the server.
	 * @param connection an open connection without commands in flight
	 * @return the identity; {@code null}, or without a run, if the server does not permit
	 * the query
	 * @throws RedisCallException if the server does not answer, or cannot answer yet
	 */
	public static @Nullable ClientIdentity withRun(CallConnection connection) {
		ClientIdentity identity = of(connection).orElse(null);
		if (identity == null || ConnectionMemory.of(connection.connection()).identity() != null) {
			return identity;
		}
		// INFO failed because the server was busy or loading, so try it again.
		ServerInfo info = ServerInfo.query(connection);
		return remember(connection,
				new ClientIdentity(identity.node(), identity.clientId(), info.runId(), info.product()));
	}

	/**
	 * Queries the run ID of the server.
	 * @param connection an open connection without commands in flight
	 * @return the {@code run_id}; {@code null} if the server does not permit the query
	 * @throws RedisCallException if the server does not answer, or cannot answer yet
	 */
	public static @Nullable String serverRunId(CallConnection connection) {
		ClientIdentity identity = withRun(connection);
		return (identity != null) ? identity.runId() : null;
	}

	private static ClientIdentity remember(CallConnection connection, ClientIdentity identity) {
		ConnectionMemory.of(connection.connection()).rememberIdentity(identity);
		return identity;
	}

	/**
	 * Whether the server has restarted between these two connections, so that this one is
	 * gone.
	 * @return {@code false} if the run may be the same, or if the other connection is one
	 * to another server
	 */
	public boolean isFromAnotherRun(ClientIdentity other) {
		return this.node.equals(other.node) && this.runId != null && other.runId != null
				&& !this.runId.equals(other.runId);
	}

	/**
	 * Has the server close this connection. It may be closed already.
	 * @return whether the connection certainly runs no more commands; {@code false} if
	 * the server does not permit CLIENT KILL
	 * @throws RedisCallException if the server does not answer, or cannot answer yet
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
			logger.warn("CLIENT KILL: {}. Commands of a lost connection may run late and change newer data."
					+ " Allow it by ACL SETUSER <user> +client|kill", ex.getMessage());
			return false;
		}
	}

}
