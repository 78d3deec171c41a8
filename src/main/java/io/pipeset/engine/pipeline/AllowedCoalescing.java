package io.pipeset.engine.pipeline;

import io.pipeset.engine.pipeline.call.CallConnection;
import io.pipeset.engine.pipeline.call.ConnectionMemory;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.ServerVersion;
import io.pipeset.engine.slab.Coalescing;
import org.jspecify.annotations.Nullable;

/**
 * Determines which coalesced commands a connection allows, when the connection is used
 * for the first time.
 */
final class AllowedCoalescing {

	private AllowedCoalescing() {
	}

	/**
	 * Determines which coalesced commands a connection allows.
	 * @param connection an open connection without commands in flight
	 * @param version the version of the server; {@code null} if it is not known
	 * @return the coalesced commands that Redis certainly does not refuse because of one
	 * of their records, and that cost it no more than single commands
	 * @throws RedisCallException if the server does not answer
	 */
	static Coalescing of(CallConnection connection, @Nullable ServerVersion version) {
		ConnectionMemory memory = ConnectionMemory.of(connection.connection());
		Coalescing known = memory.coalescing();
		if (known != null) {
			return known;
		}
		boolean countedPops = hasCountedPops(version);
		try {
			UserPermissions permissions = UserPermissions.query(connection, hasUsers(version));
			MeasuredServer server = MeasuredServer.of(version);
			Coalescing allowed = new Coalescing(permissions.severalKeys(), countedPops, server.gainsByMset(),
					server.gainsByMsetex() && permissions.hasMsetex());
			memory.rememberCoalescing(allowed);
			return allowed;
		}
		catch (RedisCallException ex) {
			if (ex.code() == null) {
				throw ex;
			}
			// The next batch asks a busy or loading server again.
			return new Coalescing(false, countedPops);
		}
	}

	/** Pops accept a count since Redis 6.2. */
	private static boolean hasCountedPops(@Nullable ServerVersion version) {
		return version != null && (version.valkey() || version.isAtLeast(6, 2));
	}

	/** Users with rules exist since Redis 6.0. */
	private static boolean hasUsers(@Nullable ServerVersion version) {
		return version == null || version.valkey() || version.isAtLeast(6, 0);
	}

}
