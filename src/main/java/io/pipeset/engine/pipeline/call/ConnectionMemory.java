package io.pipeset.engine.pipeline.call;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

import io.lettuce.core.api.StatefulConnection;
import io.pipeset.engine.slab.Coalescing;
import org.jspecify.annotations.Nullable;

/**
 * Remembers facts about a pooled connection from its first use, so that later borrowers
 * need not query Redis again.
 */
public final class ConnectionMemory {

	private static final Map<StatefulConnection<?, ?>, ConnectionMemory> ALL = Collections
		.synchronizedMap(new WeakHashMap<>());

	private final long firstLentNanos = System.nanoTime();

	private volatile @Nullable ClientIdentity identity;

	private volatile @Nullable Coalescing coalescing;

	private ConnectionMemory() {
	}

	/** The facts known about a lent connection. */
	public static ConnectionMemory of(StatefulConnection<?, ?> connection) {
		return ALL.computeIfAbsent(connection, (lent) -> new ConnectionMemory());
	}

	/**
	 * When the connection was first lent. While it is open, its server has not restarted
	 * since.
	 * @return a time of {@link System#nanoTime()}
	 */
	public long firstLentNanos() {
		return this.firstLentNanos;
	}

	/** The identity of the connection; {@code null} until it is completely known. */
	public @Nullable ClientIdentity identity() {
		return this.identity;
	}

	void rememberIdentity(ClientIdentity identity) {
		this.identity = identity;
	}

	/**
	 * The coalesced commands that the connection allows; {@code null} until they are
	 * known.
	 */
	public @Nullable Coalescing coalescing() {
		return this.coalescing;
	}

	public void rememberCoalescing(Coalescing allowed) {
		this.coalescing = allowed;
	}

}
