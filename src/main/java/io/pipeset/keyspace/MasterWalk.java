package io.pipeset.keyspace;

import java.util.Objects;

import io.pipeset.keyspace.Walk.Continuation;
import io.pipeset.pipeline.Pipeline;
import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.pipeline.call.RedisCallException;
import io.pipeset.record.room.NoRoomException;
import io.pipeset.report.Ending.Cause;
import io.pipeset.slab.RedisErrors;
import io.pipeset.slab.RedisErrors.Meaning;
import org.jspecify.annotations.Nullable;

/**
 * The walk through the keys of one server, in one thread: one turn after the other on a
 * connection, until all keys are looked at.
 */
final class MasterWalk {

	private final Round round;

	private final RedisNode node;

	private final @Nullable MasterSlots slots;

	private final AnalysisConnections connections;

	private final Walk walk = new Walk();

	private final KeyPages pages;

	private final Losses losses;

	/** Whether no other walk of the analysis runs meanwhile. */
	private boolean alone;

	/** Whether the slots are those that the server had before its first key was read. */
	private boolean slotsAreFresh;

	private boolean slotsAreKnown;

	/**
	 * A walk that has not begun.
	 * @param slots its slots; {@code null} for a single server, at which all keys count
	 */
	MasterWalk(Round round, RedisNode node, @Nullable MasterSlots slots) {
		this.round = round;
		this.node = node;
		this.slots = slots;
		this.slotsAreFresh = slots == null;
		this.slotsAreKnown = slots == null;
		this.connections = round.connections(node);
		this.pages = new KeyPages(round.room());
		this.losses = new Losses(round.settings().timeout(), round.stop());
	}

	/** Walks to the end, or until the round is over. */
	void run() {
		this.alone = this.round.enter();
		try {
			while (!isComplete() && !this.round.isOver()) {
				goOn();
			}
		}
		catch (NoRoomException ex) {
			AnalysisRun.stop(this.round.stop(), ex);
		}
		finally {
			this.pages.giveRoom();
			this.round.leave(this.alone);
		}
	}

	/** Whether all keys were looked at that were at the server all the time. */
	boolean isComplete() {
		return this.walk.isFinished() && this.slotsAreKnown;
	}

	/** The keys that are counted. */
	long keys() {
		return this.walk.keys();
	}

	/** The server's host and port. */
	String name() {
		return this.node.name();
	}

	private void goOn() {
		if (!this.alone && this.round.isOneByOne()) {
			this.pages.giveRoom();
			this.round.leave(false);
			this.alone = this.round.enter();
		}
		else if (this.walk.isFinished()) {
			this.slotsAreKnown = looksAtSlots();
		}
		else {
			long early = this.round.pace().early();
			if (early == 0 || !this.round.stop().await(early)) {
				this.connections.use(this::turn, this::unreachable);
			}
		}
	}

	/** Runs a turn; returns what is to be done once the connection is given back. */
	private Runnable turn(Pipeline pipeline) {
		if (!this.slotsAreFresh) {
			// A slot that has left since the service heard of it might come back unseen.
			return this::freshenSlots;
		}
		Continuation continuation = this.walk.resume(pipeline.runId(), pipeline.tellsRunIdLater(),
				pipeline.firstLentNanos());
		if (continuation == Continuation.NOT_YET) {
			return () -> pauseAfter("Redis does not tell yet whether it was started anew");
		}
		if (continuation == Continuation.ANEW) {
			this.round.beginAnew();
			return AnalysisConnections::doNothing;
		}
		try (Conversation conversation = this.connections.conversation(pipeline);
				Turn turn = new Turn(this.round, this.walk, this.pages, this.slots, conversation, this::yields)) {
			turn.run();
			this.walk.leaves();
			if (turn.hasCounted()) {
				this.losses.progress();
			}
			String loss = conversation.loss();
			String passing = turn.passingError();
			if (loss != null) {
				this.walk.lost();
				return () -> pauseAfter(loss);
			}
			if (passing != null) {
				return () -> refused(passing);
			}
			if (turn.isInWant() && !this.alone) {
				// No thread waits for memory while other walks hold some.
				this.round.goOneByOne();
				return AnalysisConnections::doNothing;
			}
			return turn.want();
		}
	}

	/** Whether others wait for the connection, or for the walk to make room. */
	private boolean yields() {
		return this.node.permits().waiting() > 0 || (!this.alone && this.round.isOneByOne());
	}

	private void refused(String error) {
		if (!RedisErrors.means(RedisErrors.code(error), Meaning.REDIRECTS) || looksAtSlots()) {
			pauseAfter("Redis answered " + error);
		}
	}

	private void freshenSlots() {
		this.slotsAreFresh = looksAtSlots();
	}

	/** Looks which slots are still there; {@code false} after a pause if none is. */
	private boolean looksAtSlots() {
		try {
			if (this.slots == null || this.slots.look()) {
				return true;
			}
			pauseAfter("Redis is no longer a master of the cluster");
		}
		catch (RedisCallException ex) {
			if (ex.isTransient()) {
				pauseAfter(Objects.requireNonNullElse(ex.getMessage(), ""));
			}
			else {
				this.round.stop()
					.because(Cause.REDIS_REFUSES, this.node.name() + ": CLUSTER NODES: " + ex.getMessage()
							+ ". Permit it by ACL SETUSER <user> +cluster|nodes");
			}
		}
		return false;
	}

	private Runnable unreachable(NoConnectionException ex) {
		this.walk.lost();
		if (this.walk.hasBegun() || this.round.isRepeated()) {
			return () -> pauseAfter(String.valueOf(ex.getMessage()));
		}
		return () -> this.round.stop().because(ex, "send the analysis again");
	}

	private void pauseAfter(String detail) {
		this.losses.pauseAfter((this.slots != null) ? this.node.name() + ": " + detail : detail);
		if (this.slots != null && this.slots.isReplaced()) {
			this.round.beginAnew();
		}
	}

}
