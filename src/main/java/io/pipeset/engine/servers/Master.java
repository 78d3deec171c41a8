package io.pipeset.engine.servers;

import java.util.concurrent.TimeUnit;

import io.pipeset.engine.pipeline.RedisNode;

/** A node of the cluster that is a master, or was one. */
final class Master {

	/**
	 * How long the connections are kept to a node that the cluster no longer names.
	 */
	private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(10);

	private final String id;

	private final RedisNode node;

	private long namedAt;

	private boolean named;

	/**
	 * A master.
	 * @param id the id that the node has for its life
	 */
	Master(String id, RedisNode node) {
		this.id = id;
		this.node = node;
	}

	String id() {
		return this.id;
	}

	RedisNode node() {
		return this.node;
	}

	/** The cluster names it as a master. */
	void name() {
		this.named = true;
		this.namedAt = System.nanoTime();
	}

	/** The cluster is asked again. */
	void forget() {
		this.named = false;
	}

	/** Whether the cluster named it when it was asked last. */
	boolean isNamed() {
		return this.named;
	}

	/** Whether it was not named for long, and no job has a connection to it. */
	boolean isLongGone() {
		return !this.named && System.nanoTime() - this.namedAt > KEPT_NANOS && this.node.permits().taken() == 0;
	}

}
