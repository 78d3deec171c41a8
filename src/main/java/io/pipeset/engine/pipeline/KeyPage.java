package io.pipeset.engine.pipeline;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.RedisCommandExecutionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.ScanPosition;
import org.jspecify.annotations.Nullable;

/**
 * The keys of one SCAN, and the type, the memory and the time to live of each. The
 * connection's thread fills it. It is used when its last exchange is done.
 */
public final class KeyPage {

	public static final String MEMORY_USAGE = "MEMORY USAGE";

	/** How many pages of one query are in memory at once. */
	public static final int PAGES = 3;

	/** The memory of a key and its facts, in bytes, in addition to the name. */
	private static final int KEY_BYTES = 120;

	private final long maxBytes;

	private final List<byte[]> names = new ArrayList<>();

	private final List<KeyFacts> keys = new ArrayList<>();

	private final Map<String, RedisCallException> refusals = new LinkedHashMap<>();

	private ScanPosition next = ScanPosition.START;

	private long bytes;

	private int vanished;

	private boolean restarted;

	/** The exchange that was sent last to fill this page. */
	private CompletableFuture<@Nullable Void> filled = CompletableFuture.completedFuture(null);

	KeyPage(long maxBytes) {
		this.maxBytes = maxBytes;
	}

	/** An empty page for a position that is no longer valid. */
	static KeyPage restarted() {
		KeyPage page = new KeyPage(0);
		page.restarted = true;
		return page;
	}

	CompletableFuture<@Nullable Void> filled() {
		return this.filled;
	}

	void filledBy(CompletableFuture<@Nullable Void> exchange) {
		this.filled = exchange;
	}

	/** The bytes that the names of further keys may have. */
	int room() {
		return (int) Math.max(0, Math.min(Integer.MAX_VALUE - 8, this.maxBytes - this.bytes));
	}

	void addName(byte[] name, long length, boolean counts) {
		this.bytes += length + KEY_BYTES;
		if (isTooLarge()) {
			this.names.clear();
		}
		else if (counts) {
			this.names.add(name);
		}
	}

	List<byte[]> names() {
		return this.names;
	}

	void add(@Nullable KeyFacts key) {
		if (key != null) {
			this.keys.add(key);
		}
		else {
			this.vanished++;
		}
	}

	void refuse(String command, String error) {
		this.refusals.computeIfAbsent(command,
				(first) -> RedisCallException.refused(error, new RedisCommandExecutionException(error)));
	}

	void next(ScanPosition next) {
		this.next = next;
	}

	/** The position where the scan continues. */
	public ScanPosition next() {
		return this.next;
	}

	/** The keys that existed when they were examined, if no command was refused. */
	public List<KeyFacts> keys() {
		return this.keys;
	}

	/** How many keys were gone when they were examined. */
	public int vanished() {
		return this.vanished;
	}

	/** The memory of the page in bytes, including keys that were dropped. */
	public long bytes() {
		return this.bytes;
	}

	/**
	 * Whether the keys were dropped because they need more memory than allowed.
	 * @return {@code true} if the same position must be queried again with more memory
	 */
	public boolean isTooLarge() {
		return this.bytes > this.maxBytes;
	}

	/** Whether there is no page because the server has restarted or may have. */
	public boolean isRestarted() {
		return this.restarted;
	}

	/**
	 * The errors that Redis answered.
	 * @return the first error to each command; mostly empty
	 */
	public Map<String, RedisCallException> refusals() {
		return this.refusals;
	}

}
