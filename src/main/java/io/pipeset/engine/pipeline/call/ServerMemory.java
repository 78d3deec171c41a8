package io.pipeset.engine.pipeline.call;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A server's memory figures from
 * <a href="https://redis.io/docs/latest/commands/info/">INFO</a>.
 *
 * @param runId the server's {@code run_id}, which a restart changes
 * @param usedBytes its {@code used_memory}
 * @param mostBytes its {@code maxmemory}; 0 for no limit
 * @param policy its {@code maxmemory-policy}: what it does when it reaches the limit
 * @param evictedKeys the number of keys that it has evicted since it started
 */
public record ServerMemory(String runId, long usedBytes, long mostBytes, String policy, long evictedKeys) {

	/** The sections of INFO that contain these figures. */
	public static final List<String> SECTIONS = List.of("server", "memory", "stats");

	private static final String NO_EVICTION = "noeviction";

	/**
	 * Reads a reply to INFO.
	 * @return the memory, or {@code null} if a figure is missing
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
	 * The number of keys that the server has evicted since {@code before}.
	 * @return the number; 0 if it is unknown, because the server has restarted or has
	 * been replaced
	 */
	public long evictedSince(ServerMemory before) {
		return (this.runId.equals(before.runId)) ? Math.max(0, this.evictedKeys - before.evictedKeys) : 0;
	}

	/** Whether the server has a memory limit. */
	public boolean isLimited() {
		return this.mostBytes > 0;
	}

	/**
	 * Whether the server evicts keys when it reaches its limit.
	 * @return {@code false} if it refuses writes instead
	 */
	public boolean isEvicting() {
		return !this.policy.equals(NO_EVICTION);
	}

	/**
	 * The memory below the limit.
	 * @return bytes, negative if the limit is exceeded; {@code null} if there is no limit
	 */
	public @Nullable Long freeBytes() {
		return (isLimited()) ? Long.valueOf(this.mostBytes - this.usedBytes) : null;
	}

}
