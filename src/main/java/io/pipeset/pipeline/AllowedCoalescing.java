package io.pipeset.pipeline;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

import io.lettuce.core.api.StatefulConnection;
import io.pipeset.slab.Coalescing;
import org.jspecify.annotations.Nullable;

/**
 * The common commands that each connection allows, as far as it is known. They are found
 * out when a connection is used for the first time.
 */
final class AllowedCoalescing {

	private static final Coalescing NOTHING_REFUSABLE = new Coalescing(false, false);

	private static final Map<StatefulConnection<?, ?>, Coalescing> KNOWN = Collections
		.synchronizedMap(new WeakHashMap<>());

	private AllowedCoalescing() {
	}

	/**
	 * Finds out which common commands a connection allows.
	 * @param connection an open connection without commands on their way
	 * @param version the version of the server, if it is known
	 * @return those that Redis certainly does not refuse for one of their records
	 * @throws RedisCallException if there is no answer
	 */
	static Coalescing of(CallConnection connection, @Nullable String version) {
		Coalescing known = KNOWN.get(connection.connection());
		if (known != null) {
			return known;
		}
		boolean countedPops = hasCountedPops(version);
		try {
			Coalescing allowed = new Coalescing(UserRules.permitAll(connection), countedPops);
			KNOWN.put(connection.connection(), allowed);
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

	/** Redis has refused a common command for what may be the command's own fault. */
	static void refused(StatefulConnection<?, ?> connection) {
		KNOWN.put(connection, NOTHING_REFUSABLE);
	}

	/** Pops take a count from Redis 6.2 on. */
	private static boolean hasCountedPops(@Nullable String version) {
		if (version == null || !version.matches("\\d{1,4}\\.\\d{1,4}\\..*")) {
			return false;
		}
		String[] parts = version.split("\\.", 3);
		int major = Integer.parseInt(parts[0]);
		return major > 6 || (major == 6 && Integer.parseInt(parts[1]) >= 2);
	}

}
