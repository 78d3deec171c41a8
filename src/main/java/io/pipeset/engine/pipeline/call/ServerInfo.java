package io.pipeset.engine.pipeline.call;

import org.jspecify.annotations.Nullable;

/**
 * The facts that a server tells about itself in
 * <a href="https://redis.io/docs/latest/commands/info/">INFO server</a>.
 *
 * @param runId the {@code run_id} of this life of the server; {@code null} where it tells
 * none
 * @param version the version of Redis that it is, or is compatible with; {@code null}
 * where it tells none
 * @param product what it is; {@code null} where it tells no version
 */
record ServerInfo(@Nullable String runId, @Nullable String version, @Nullable ServerVersion product) {

	/**
	 * Asks for the facts.
	 * @param connection an open connection without commands on their way
	 * @throws RedisCallException if Redis refuses the call or does not answer
	 */
	static ServerInfo ask(CallConnection connection) {
		String info = connection.call((commands) -> commands.info("server"));
		return new ServerInfo(field(info, "run_id:"), field(info, "redis_version:"), ServerVersion.of(info));
	}

	/**
	 * A field of an answer to INFO.
	 * @param name the field's name, with the colon behind it
	 * @return its value; {@code null} where there is none
	 */
	static @Nullable String field(String info, String name) {
		return info.lines()
			.filter((line) -> line.startsWith(name))
			.map((line) -> line.substring(name.length()).strip())
			.filter((value) -> !value.isEmpty())
			.findFirst()
			.orElse(null);
	}

}
