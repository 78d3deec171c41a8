package io.pipeset.redis;

import java.util.concurrent.CompletableFuture;

import io.pipeset.redis.FaultProxy.Way;
import org.jspecify.annotations.Nullable;

/**
 * The place at which a proxy stops a connection, as the number of messages and bytes that
 * may still pass. Only the proxy's thread uses it.
 */
final class ProxyPlace {

	private final CompletableFuture<ProxyLink> reached = new CompletableFuture<>();

	private final @Nullable String client;

	private final Way way;

	private long messages;

	private int bytes;

	private final boolean everywhere;

	/** The flow whose bytes are counted, once the messages are. */
	private @Nullable ProxyFlow last;

	private ProxyPlace(@Nullable String client, Way way, long messages, int bytes, boolean everywhere) {
		this.client = client;
		this.way = way;
		this.messages = messages;
		this.bytes = bytes;
		this.everywhere = everywhere;
	}

	/** A place that one connection comes to. */
	static ProxyPlace of(@Nullable String client, Way way, long messages, int bytes) {
		return new ProxyPlace(client, way, messages, bytes, false);
	}

	/** The place at which all connections are, those to come included. */
	static ProxyPlace everywhere() {
		return new ProxyPlace(null, Way.COMMANDS, 0, 0, true);
	}

	/** Is done by the connection that comes to the place. */
	CompletableFuture<ProxyLink> reached() {
		return this.reached;
	}

	boolean isEverywhere() {
		return this.everywhere;
	}

	/** Whether a flow has come to the place. */
	boolean isHere(ProxyFlow flow) {
		return this.everywhere
				|| (counts(flow) && this.messages == 0 && this.bytes == 0 && (this.last == null || this.last == flow));
	}

	private boolean counts(ProxyFlow flow) {
		return flow.way() == this.way && (this.client == null || flow.isOf(this.client));
	}

	/** Counts a byte that passed. */
	void passed(ProxyFlow flow, boolean messageEnds) {
		if (this.everywhere || !counts(flow)) {
			return;
		}
		if (this.messages > 0) {
			if (messageEnds && --this.messages == 0) {
				this.last = flow;
			}
		}
		else if (this.last == null || this.last == flow) {
			this.last = flow;
			this.bytes--;
		}
	}

}
