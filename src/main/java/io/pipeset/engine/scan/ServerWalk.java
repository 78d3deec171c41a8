package io.pipeset.engine.scan;

import java.util.BitSet;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.ScanPosition;
import io.pipeset.engine.servers.SlotsAtNode;
import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;

/**
 * How far a walk has come in the keys of one server, whichever connection asks for the
 * pages. A page that is lost before it is taken is asked for again from the same place.
 * One thread at a time uses this.
 */
public final class ServerWalk {

	private final KeyWalk walk;

	private final RedisNode node;

	/** The slots of the server before its keys are walked. */
	private final SlotsAtNode before;

	/**
	 * The slots whose keys count at this server, and at no other; {@code null} for a
	 * single server, at which all keys count.
	 */
	private final @Nullable BitSet counted;

	private ScanPosition place = ScanPosition.START;

	private boolean begun;

	ServerWalk(KeyWalk walk, RedisNode node, SlotsAtNode before, @Nullable BitSet counted) {
		this.walk = walk;
		this.node = node;
		this.before = before;
		this.counted = counted;
	}

	/** The server; a single one is the master of now. */
	public RedisNode node() {
		return (this.counted != null) ? this.node : this.walk.master(this.node);
	}

	/** Whether the server is a master of a cluster. */
	public boolean isInCluster() {
		return this.counted != null;
	}

	/** The place from which the next page is asked for. */
	public ScanPosition place() {
		return this.place;
	}

	/**
	 * A page is taken.
	 * @param next the place behind it
	 */
	public void taken(ScanPosition next) {
		this.place = next;
		this.begun = true;
	}

	/** Whether a page is taken. */
	public boolean hasBegun() {
		return this.begun;
	}

	/** Whether the server's last page is taken. */
	public boolean isFinished() {
		return this.begun && this.place.isAtAnEnd();
	}

	/**
	 * Whether a key counts here. If it does not, its slot is on the move, or was, and is
	 * in doubt.
	 * @param to the byte behind it
	 */
	public boolean counts(byte[] bytes, int from, int to) {
		if (this.counted == null) {
			return true;
		}
		int slot = Slots.of(bytes, from, to - from);
		boolean counts = this.counted.get(slot);
		if (!counts) {
			this.walk.doubt(slot);
		}
		return counts;
	}

	/**
	 * Asks the server which slots it has now. Those of which keys count here are in doubt
	 * if they have moved since the walk began, or are on their way; keys of a slot that
	 * has gone count no more.
	 * @return {@code false} if it has no slot any more, was replaced, or is not waited
	 * for any longer
	 */
	public boolean look(RetryPolicy patience) {
		if (this.counted == null) {
			return true;
		}
		SlotsAtNode now = this.walk.slots(this.node, patience, this::isReplaced);
		if (now == null || now.isEmpty()) {
			return false;
		}
		BitSet moved = SlotViews.moved(this.before, now);
		moved.and(this.counted);
		this.walk.doubt(moved);
		this.counted.and(now.served());
		return true;
	}

	/**
	 * Whether the cluster names other servers as the masters of all slots, asked anew. A
	 * server that takes slots over may have keys before it serves any. A single server is
	 * walked from its beginning if it was replaced.
	 */
	public boolean isReplaced() {
		return this.counted != null && !this.before.isEmpty() && this.walk.isReplaced(this.node);
	}

	/** The server was replaced before its last page: all of its slots are in doubt. */
	public void cut() {
		this.walk.doubt(this.before.served());
		this.walk.doubt(this.before.takenOver());
	}

}
