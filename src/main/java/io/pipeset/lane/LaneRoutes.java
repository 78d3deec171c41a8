package io.pipeset.lane;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.pipeset.pipeline.Pauses;
import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.RedisNodes;
import io.pipeset.pipeline.SlotOwners;
import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.record.Record;
import io.pipeset.record.Slots;
import io.pipeset.record.room.NoRoomException;
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

	private final BiFunction<RedisNode, LaneContext, Lane> opening;

	private final Map<RedisNode, @Nullable Lane[]> byNode = new HashMap<>();

	private final Map<RedisNode, LaneTurns> turns = new ConcurrentHashMap<>(4);

	private final Consumer<Lane> threads;

	private final Runnable drain;

	private @Nullable SlotOwners owners;

	/** The lanes by the numbers of their masters, as far as these owners needed them. */
	private @Nullable Lane[] byNumber = new Lane[0];

	private long changedAt;

	/** The lanes that are open; replaced whenever one is opened. */
	private volatile Lane[] open = new Lane[0];

	/**
	 * The lanes of a job; those to a single server are opened at once.
	 * @param opening makes a lane to a master
	 * @param threads has a thread run a lane
	 * @param drain waits until every lane is idle
	 */
	LaneRoutes(LaneContext context, BiFunction<RedisNode, LaneContext, Lane> opening, Consumer<Lane> threads,
			Runnable drain) {
		this.drain = drain;
		this.context = context;
		this.nodes = context.nodes();
		this.concurrency = context.settings().concurrency();
		this.opening = opening;
		this.threads = threads;
		if (!this.nodes.isCluster()) {
			RedisNode node = this.nodes.single();
			this.open = Stream.generate(() -> opening.apply(node, context))
				.limit(this.concurrency)
				.toArray(Lane[]::new);
		}
	}

	Lane[] open() {
		return this.open;
	}

	/** The lanes' turns at a connection to a node. */
	LaneTurns turns(RedisNode node) {
		LaneTurns known = this.turns.get(node);
		return (known != null) ? known
				: this.turns.computeIfAbsent(node, (any) -> new LaneTurns(this.context, node, this.threads));
	}

	/** A lane has ended, and others may have their turns. */
	void nextTurns() {
		this.turns.values().forEach(LaneTurns::next);
	}

	/**
	 * Gives a record to the lane of its slot. A script that names no key runs alone.
	 * @param record a record whose keys are in one slot
	 * @throws NoRoomException if there will be no memory for the record, or its master
	 * cannot be found out, for which the job is stopped; it was not added
	 */
	void add(Record record) {
		int slot = record.slot();
		try {
			if (areOutdated()) {
				this.drain.run();
				this.owners = this.nodes.owners();
				this.byNumber = new Lane[Math.max(1, this.owners.masters()) * this.concurrency];
				this.changedAt = System.nanoTime();
			}
			if (slot == Slots.NONE) {
				this.drain.run();
			}
			lane(slot).filler().add(record, slot);
			if (slot == Slots.NONE) {
				this.drain.run();
			}
		}
		catch (NoConnectionException ex) {
			this.context.stop().because(ex, "send the job again");
			throw new NoRoomException("The job is stopped");
		}
	}

	/** Whether slots have other masters than those that their records go to. */
	private boolean areOutdated() throws NoConnectionException {
		SlotOwners now = (this.owners != null) ? this.nodes.owners() : firstOwners();
		return now != this.owners && (this.owners == null || System.nanoTime() - this.changedAt > PAUSE_NANOS);
	}

	/** Waits for the masters, if the job has retries and so may wait for a connection. */
	private SlotOwners firstOwners() throws NoConnectionException {
		Pauses pauses = new Pauses(this.context.settings().timeout(), this.context.stop());
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
	private Lane lane(int slot) throws NoConnectionException {
		SlotOwners owners = this.owners;
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
