package io.pipeset.engine.pipeline;

import io.pipeset.engine.pipeline.call.ServerVersion;
import io.pipeset.engine.slab.Coalescing;
import io.pipeset.redis.TestRedis;

/** Tells tests which coalesced commands cost their server less. */
public final class ServerGains {

	private ServerGains() {
	}

	/**
	 * The coalesced commands of a server for a user without restrictions.
	 * @param redis the server
	 * @return the coalesced commands that the service uses there
	 */
	public static Coalescing of(TestRedis redis) {
		MeasuredServer server = MeasuredServer.of(ServerVersion.of(redis.client().info("server")));
		return new Coalescing(true, true, server.gainsByMset(), server.gainsByMsetex() && redis.knows("MSETEX"));
	}

}
