package io.pipeset.engine.lane;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.stream.Stream;

import io.pipeset.engine.pipeline.Backoff;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.Topology;
import org.jspecify.annotations.Nullable;

/**
 * The lanes of a job to the masters of a cluster, opened when a record first needs them.
 * A record goes to a lane by the master of its slot and by its slot. The reading thread
 * alone changes the ways of slots, and only while every lane is idle, so that all records
 * of a slot that have no outcome are in one lane.
 */
final class LaneRoutes {

	/** The shortest time between two changes, for each of which all lanes are drained. */
	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final LaneContext context;

	private final RedisNodes nodes;

	private final int concurrency;

	private final BiFunction<@Nullable RedisNode, LaneContext, Lane> opening;

	private final Map<RedisNode, @Nullable Lane[]> byNode = new HashMap<>();

	private @Nullable Topology owners;

	/** The lanes by the numbers of their masters, as far as these owners needed them. */
	private @Nullable Lane[] byNumber = new Lane[0];

	private long changedAt;

	/** The lanes that are open; replaced whenever one is opened. */
	private volatile Lane[] open = new Lane[0];

	/**
	 * The lanes of a job; those to a single server are opened at once.
	 * @param opening makes a lane to a master
	 */
	LaneRoutes(LaneContext context, BiFunction<@Nullable RedisNode, LaneContext, Lane> opening) {
		this.context = context;
		this.nodes = context.nodes();
		this.concurrency = context.settings().concurrency();
		this.opening = opening;
		if (!context.areSlotsFollowed()) {
			this.open = Stream.generate(() -> opening.apply(null, context))
				.limit(this.concurrency)
				.toArray(Lane[]::new);
		}
	}

	Lane[] open() {
		return this.open;
	}

	/** Whether slots have other masters than those that their records go to. */
	boolean areOutdated() throws NoConnectionException {
		Topology now = (this.owners != null) ? this.nodes.owners() : firstOwners();
		return now != this.owners && (this.owners == null || System.nanoTime() - this.changedAt > PAUSE_NANOS);
	}

	/** Sends the records of slots to the masters of now, while every lane is idle. */
	void renew() throws NoConnectionException {
		this.owners = this.nodes.owners();
		this.byNumber = new Lane[Math.max(1, this.owners.masters()) * this.concurrency];
		this.changedAt = System.nanoTime();
	}

	/** Waits for the masters, if the job has retries and so may wait for a connection. */
	private Topology firstOwners() throws NoConnectionException {
		Backoff pauses = new Backoff(this.context.settings().timeout(), this.context.stop());
		while (true) {
			try {
				return this.nodes.owners();
			}
			catch (NoConnectionException ex) {
				if (!this.context.retries().isLeft() || !pauses.next()) {
					throw ex;
				}
			}
		}
	}

	/** The lane of a slot, or that of any master for -1. */
	Lane lane(int slot) throws NoConnectionException {
		Topology owners = this.owners;
		if (owners == null) {
			throw new IllegalStateException("The masters are not known yet");
		}
		int number = Math.max(slot, 0) % this.concurrency;
		int at = owners.number(slot) * this.concurrency + number;
		Lane lane = this.byNumber[at];
		if (lane == null) {
			lane = lane(owners.ownerOrAny(slot), number, owners.masters());
			this.byNumber[at] = lane;
		}
		return lane;
	}

	private Lane lane(RedisNode node, int number, int masters) {
		@Nullable Lane[] lanes = this.byNode.get(node);
		if (lanes == null) {
			lanes = new Lane[this.concurrency];
			this.byNode.put(node, lanes);
		}
		Lane lane = lanes[number];
		if (lane == null) {
			lane = this.opening.apply(node, this.context.atOneOf(masters));
			lanes[number] = lane;
			Lane[] more = Arrays.copyOf(this.open, this.open.length + 1);
			more[this.open.length] = lane;
			this.open = more;
		}
		return lane;
	}

}
