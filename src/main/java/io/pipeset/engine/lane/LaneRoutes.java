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
 * The lanes of a job to the masters of a cluster, each opened for the first record that
 * needs it. The slot of a record, and the slot's master, determine its lane. Only the
 * reading thread changes the routes, and only while every lane is idle. So all records of
 * a slot without an outcome are in one lane.
 */
final class LaneRoutes {

	/** Shortest time between two updates, because each of them drains all lanes. */
	private static final long MIN_UPDATE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final LaneContext context;

	private final RedisNodes nodes;

	private final int concurrency;

	private final BiFunction<@Nullable RedisNode, LaneContext, Lane> laneFactory;

	private final Map<RedisNode, @Nullable Lane[]> byNode = new HashMap<>();

	private @Nullable Topology owners;

	/**
	 * The lanes by the number of their master, as far as the current owners needed them.
	 */
	private @Nullable Lane[] byNumber = new Lane[0];

	private long changedNanos;

	/** The open lanes; a new array for each lane that is opened. */
	private volatile Lane[] openLanes = new Lane[0];

	/**
	 * Creates the routes of a job. The lanes to a single server are opened at once.
	 * @param laneFactory creates a lane to a master, or to the single server for {@code
	 * null}
	 */
	LaneRoutes(LaneContext context, BiFunction<@Nullable RedisNode, LaneContext, Lane> laneFactory) {
		this.context = context;
		this.nodes = context.nodes();
		this.concurrency = context.settings().concurrency();
		this.laneFactory = laneFactory;
		if (!context.isCluster()) {
			this.openLanes = Stream.generate(() -> laneFactory.apply(null, context))
				.limit(this.concurrency)
				.toArray(Lane[]::new);
		}
	}

	Lane[] openLanes() {
		return this.openLanes;
	}

	/**
	 * Whether slots have other masters than the routes say, and the last update is old
	 * enough.
	 */
	boolean areOutdated() throws NoConnectionException {
		Topology now = (this.owners != null) ? this.nodes.owners() : firstOwners();
		return now != this.owners && (this.owners == null || System.nanoTime() - this.changedNanos > MIN_UPDATE_NANOS);
	}

	/** Updates the routes to the current masters. Every lane must be idle. */
	void update() throws NoConnectionException {
		this.owners = this.nodes.owners();
		this.byNumber = new Lane[Math.max(1, this.owners.masters()) * this.concurrency];
		this.changedNanos = System.nanoTime();
	}

	/** Queries the masters, and retries if the job has retries left. */
	private Topology firstOwners() throws NoConnectionException {
		Backoff backoff = new Backoff(this.context.settings().timeout(), this.context.stop());
		while (true) {
			try {
				return this.nodes.owners();
			}
			catch (NoConnectionException ex) {
				if (!this.context.retries().isLeft() || !backoff.next()) {
					throw ex;
				}
			}
		}
	}

	/** The lane of a slot, or a lane to any master for -1. Opens the lane if needed. */
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
			lane = this.laneFactory.apply(node, this.context.withWindowDividedBy(masters));
			lanes[number] = lane;
			Lane[] more = Arrays.copyOf(this.openLanes, this.openLanes.length + 1);
			more[this.openLanes.length] = lane;
			this.openLanes = more;
		}
		return lane;
	}

}
