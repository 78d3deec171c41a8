package io.pipeset.engine.servers;

import java.util.concurrent.TimeUnit;

import io.pipeset.engine.pipeline.RedisNode;

/** A node of a cluster, or a server of Sentinels, that is or was a master. */
final class KnownMaster {

	/** How long to keep the connections to a node that is no longer named. */
	private static final long RETIRE_NANOS = TimeUnit.MINUTES.toNanos(10);

	private final String id;

	private final RedisNode node;

	private long namedNanos;

	private boolean named;

	/**
	 * Creates a known master.
	 * @param id the node's id, which never changes
	 */
	KnownMaster(String id, RedisNode node) {
		this.id = id;
		this.node = node;
	}

	String id() {
		return this.id;
	}

	RedisNode node() {
		return this.node;
	}

	/** Marks that the last answer names this node as a master. */
	void markNamed() {
		this.named = true;
		this.namedNanos = System.nanoTime();
	}

	/** Marks the node as not named, before a new answer is read. */
	void markUnnamed() {
		this.named = false;
	}

	/** Whether the last answer names this node as a master. */
	boolean isNamed() {
		return this.named;
	}

	/**
	 * Whether the node was not named for a long time, and no job has a connection to it.
	 */
	boolean isRetirable() {
		return !this.named && System.nanoTime() - this.namedNanos > RETIRE_NANOS && this.node.permits().taken() == 0;
	}

}
