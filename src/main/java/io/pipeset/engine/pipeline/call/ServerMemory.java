package io.pipeset.engine.pipeline.call;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The memory of a server, as sections of
 * <a href="https://redis.io/docs/latest/commands/info/">INFO</a> tell it.
 *
 * @param runId the {@code run_id} of this life of the server
 * @param mostBytes its {@code maxmemory}; 0 for no limit
 * @param policy its {@code maxmemory-policy}: what it does when that is reached
 * @param evictedKeys the keys that it has evicted since it was started
 */
public record ServerMemory(String runId, long usedBytes, long mostBytes, String policy, long evictedKeys) {

	/** The sections of INFO that tell it. */
	public static final List<String> SECTIONS = List.of("server", "memory", "stats");

	private static final String EVICTS_NOTHING = "noeviction";

	/**
	 * Reads the answer of a server.
	 * @return the memory, or {@code null} where the server does not tell all of it
	 */
	public static @Nullable ServerMemory of(String info) {
		String runId = ServerInfo.field(info, "run_id:");
		Long used = number(info, "used_memory:");
		Long most = number(info, "maxmemory:");
		String policy = ServerInfo.field(info, "maxmemory_policy:");
		Long evicted = number(info, "evicted_keys:");
		return (runId == null || used == null || most == null || policy == null || evicted == null) ? null
				: new ServerMemory(runId, used, most, policy, evicted);
	}

	private static @Nullable Long number(String info, String name) {
		String value = ServerInfo.field(info, name);
		return (value != null && value.matches("\\d{1,18}")) ? Long.valueOf(value) : null;
	}

	/**
	 * The keys that the server has evicted since.
	 * @return the number; 0 where it is not known, as the server was started anew, or
	 * another one has taken its place
	 */
	public long evictedSince(ServerMemory before) {
		return (this.runId.equals(before.runId)) ? Math.max(0, this.evictedKeys - before.evictedKeys) : 0;
	}

	/** Whether there is a limit. */
	public boolean isLimited() {
		return this.mostBytes > 0;
	}

	/**
	 * Whether the server evicts keys once it has reached its limit.
	 * @return {@code false} if it refuses to write instead
	 */
	public boolean isEvicting() {
		return !this.policy.equals(EVICTS_NOTHING);
	}

	/**
	 * The memory that is left.
	 * @return bytes, less than 0 beyond the limit; {@code null} if there is none
	 */
	public @Nullable Long freeBytes() {
		return (isLimited()) ? Long.valueOf(this.mostBytes - this.usedBytes) : null;
	}

}
