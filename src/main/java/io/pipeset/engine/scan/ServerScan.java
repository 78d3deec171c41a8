package io.pipeset.engine.scan;

import java.util.BitSet;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.ScanPosition;
import io.pipeset.engine.servers.SlotsAtNode;
import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;

/**
 * The scan of one server's keys, independent of the connection. A page that is lost
 * before it is taken is requested again from the same position. Only one thread at a time
 * uses this.
 */
public final class ServerScan {

	private final KeyScan keyScan;

	private final RedisNode node;

	/** The slots of the server before its keys are scanned. */
	private final SlotsAtNode slotsBefore;

	/**
	 * The slots whose keys count at this server, and at no other. {@code null} for a
	 * single server, where all keys count.
	 */
	private final @Nullable BitSet countedSlots;

	private ScanPosition position = ScanPosition.START;

	private boolean started;

	ServerScan(KeyScan keyScan, RedisNode node, SlotsAtNode slotsBefore, @Nullable BitSet countedSlots) {
		this.keyScan = keyScan;
		this.node = node;
		this.slotsBefore = slotsBefore;
		this.countedSlots = countedSlots;
	}

	/** The server. For a single server, the current master. */
	public RedisNode node() {
		return (this.countedSlots != null) ? this.node : this.keyScan.master(this.node);
	}

	/** Whether the server is a master of a cluster. */
	public boolean isInCluster() {
		return this.countedSlots != null;
	}

	/** The position of the next page. */
	public ScanPosition place() {
		return this.position;
	}

	/**
	 * Records that a page was taken.
	 * @param next the position after the page
	 */
	public void taken(ScanPosition next) {
		this.position = next;
		this.started = true;
	}

	/** Whether any page was taken. */
	public boolean hasBegun() {
		return this.started;
	}

	/** Whether the server's last page was taken. */
	public boolean isFinished() {
		return this.started && this.position.isAtAnEnd();
	}

	/**
	 * Whether a key counts at this server. If it does not, its slot has moved or is
	 * moving. The slot is then marked as in doubt.
	 */
	public boolean counts(byte[] key) {
		if (this.countedSlots == null) {
			return true;
		}
		int slot = Slots.of(key, 0, key.length);
		boolean counts = this.countedSlots.get(slot);
		if (!counts) {
			this.keyScan.doubt(slot);
		}
		return counts;
	}

	/**
	 * Asks the server for its current slots. Marks the slots in doubt that have moved
	 * since the scan began, or are moving. Keys of a slot that has left no longer count.
	 * @return {@code false} if the server has no slots any more, was replaced, or does
	 * not answer in time
	 */
	public boolean look(RetryPolicy retryPolicy) {
		if (this.countedSlots == null) {
			return true;
		}
		SlotsAtNode now = this.keyScan.slots(this.node, retryPolicy, this::isReplaced);
		if (now == null || now.isEmpty()) {
			return false;
		}
		BitSet moved = SlotSnapshots.moved(this.slotsBefore, now);
		moved.and(this.countedSlots);
		this.keyScan.doubt(moved);
		this.countedSlots.and(now.served());
		return true;
	}

	/**
	 * Whether the cluster now names other servers as masters of all slots; this asks the
	 * cluster. A server that only imports slots has keys before it serves any slot. A
	 * single server that was replaced is scanned again from the beginning.
	 */
	public boolean isReplaced() {
		return this.countedSlots != null && !this.slotsBefore.isEmpty() && this.keyScan.isReplaced(this.node);
	}

	/**
	 * Marks all slots of the server as in doubt, because it was replaced before its last
	 * page.
	 */
	public void cut() {
		this.keyScan.doubt(this.slotsBefore.served());
		this.keyScan.doubt(this.slotsBefore.importing());
	}

}
