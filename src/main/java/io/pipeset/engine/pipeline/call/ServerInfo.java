package io.pipeset.engine.pipeline.call;

import org.jspecify.annotations.Nullable;

/**
 * A server's reply to <a href="https://redis.io/docs/latest/commands/info/">INFO
 * server</a>.
 *
 * @param runId the server's {@code run_id}, which a restart changes; {@code null} if it
 * is not reported
 * @param version the Redis version that the server has or is compatible with;
 * {@code null} if it is not reported
 * @param product the product and its version; {@code null} if no version is reported
 */
record ServerInfo(@Nullable String runId, @Nullable String version, @Nullable ServerVersion product) {

	/**
	 * Queries INFO server.
	 * @param connection an open connection without commands in flight
	 * @throws RedisCallException if Redis refuses the call or does not answer
	 */
	static ServerInfo query(CallConnection connection) {
		String info = connection.call((commands) -> commands.info("server"));
		return new ServerInfo(field(info, "run_id:"), field(info, "redis_version:"), ServerVersion.of(info));
	}

	/**
	 * A field of an INFO reply.
	 * @param name the field's name, including the colon
	 * @return its value; {@code null} if the field is missing or empty
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
