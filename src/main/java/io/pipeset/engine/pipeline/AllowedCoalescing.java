package io.pipeset.engine.pipeline;

import io.pipeset.engine.pipeline.call.CallConnection;
import io.pipeset.engine.pipeline.call.ConnectionMemory;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.ServerVersion;
import io.pipeset.engine.slab.Coalescing;
import org.jspecify.annotations.Nullable;

/**
 * The common commands that each connection allows, as far as it is known. They are found
 * out when a connection is used for the first time.
 */
final class AllowedCoalescing {

	private AllowedCoalescing() {
	}

	/**
	 * Finds out which common commands a connection allows.
	 * @param connection an open connection without commands on their way
	 * @param version the version of the server, if it is known
	 * @return those that Redis certainly does not refuse for one of their records, and
	 * that do not cost it more than the records alone
	 * @throws RedisCallException if there is no answer
	 */
	static Coalescing of(CallConnection connection, @Nullable ServerVersion version) {
		ConnectionMemory memory = ConnectionMemory.of(connection.connection());
		Coalescing known = memory.coalescing();
		if (known != null) {
			return known;
		}
		boolean countedPops = hasCountedPops(version);
		try {
			UserPermissions rules = UserPermissions.ask(connection, hasUsers(version));
			MeasuredServer server = MeasuredServer.of(version);
			Coalescing allowed = new Coalescing(rules.severalKeys(), countedPops, server.gainsByMset(),
					server.gainsByMsetex() && rules.hasMsetex());
			memory.coalescing(allowed);
			return allowed;
		}
		catch (RedisCallException ex) {
			if (ex.code() == null) {
				throw ex;
			}
			// A server that is busy or loading is asked again by the next batch.
			return new Coalescing(false, countedPops);
		}
	}

	/** Pops take a count from Redis 6.2 on. */
	private static boolean hasCountedPops(@Nullable ServerVersion version) {
		return version != null && (version.valkey() || version.isAtLeast(6, 2));
	}

	/** Users have rules from Redis 6.0 on. */
	private static boolean hasUsers(@Nullable ServerVersion version) {
		return version == null || version.valkey() || version.isAtLeast(6, 0);
	}

}
