package io.pipeset.engine.pipeline.call;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

import io.lettuce.core.api.StatefulConnection;
import io.pipeset.engine.slab.Coalescing;
import org.jspecify.annotations.Nullable;

/**
 * The knowledge about a pooled connection since it was lent for the first time, so that
 * not every borrower has to ask Redis for it.
 */
public final class ConnectionMemory {

	private static final Map<StatefulConnection<?, ?>, ConnectionMemory> ALL = Collections
		.synchronizedMap(new WeakHashMap<>());

	private final long firstLentNanos = System.nanoTime();

	private volatile @Nullable ClientIdentity identity;

	private volatile @Nullable Coalescing coalescing;

	private ConnectionMemory() {
	}

	/** The knowledge about a connection that is lent. */
	public static ConnectionMemory of(StatefulConnection<?, ?> connection) {
		return ALL.computeIfAbsent(connection, (lent) -> new ConnectionMemory());
	}

	/**
	 * When the connection was lent for the first time. While it is open, its server was
	 * not started anew since.
	 * @return a time of {@link System#nanoTime()}
	 */
	public long firstLentNanos() {
		return this.firstLentNanos;
	}

	/** All that its server tells of it; {@code null} before the server has told all. */
	public @Nullable ClientIdentity identity() {
		return this.identity;
	}

	void identity(ClientIdentity identity) {
		this.identity = identity;
	}

	/** The common commands that it allows; {@code null} before that is known. */
	public @Nullable Coalescing coalescing() {
		return this.coalescing;
	}

	public void coalescing(Coalescing allowed) {
		this.coalescing = allowed;
	}

}
