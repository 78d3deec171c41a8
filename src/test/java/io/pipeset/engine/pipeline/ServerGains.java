package io.pipeset.engine.pipeline;

import io.pipeset.engine.pipeline.call.ServerVersion;
import io.pipeset.engine.slab.Coalescing;
import io.pipeset.redis.TestRedis;

/** Tells tests which records their server runs for less as one command. */
public final class ServerGains {

	private ServerGains() {
	}

	/**
	 * The common commands of a server for a user who may do anything.
	 * @param redis the server
	 * @return those that the product allows there
	 */
	public static Coalescing of(TestRedis redis) {
		MeasuredServer row = MeasuredServer.of(ServerVersion.of(redis.client().info("server")));
		return new Coalescing(true, true, row.gainsByMset(), row.gainsByMsetex() && redis.knows("MSETEX"));
	}

}
