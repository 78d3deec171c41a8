package io.pipeset.engine.lane;

import java.util.BitSet;

import io.pipeset.record.Record;

/**
 * The keys of the records with several keys that a lane to a master of a cluster may have
 * on their way. While their slot moves, Redis puts such a record off ({@code TRYAGAIN})
 * and runs later records of one of its keys. So the later ones are kept back until it is
 * answered, unless the master has just said that no slot moves. The keys are known by
 * hashes: two keys with the same one cost a wait, and no order.
 */
final class InFlightKeys {

	/** A power of two. */
	private static final int HASHES = 1 << 16;

	/** With more keys than this, other keys would have the same hash too often. */
	private static final int MOST = HASHES / 16;

	private final BitSet hashes = new BitSet(0);

	private int count;

	/**
	 * Takes note of a record that is to be sent.
	 * @return whether it has to wait until all records ahead of it are answered
	 */
	boolean hold(Record record) {
		int keys = record.keyCount();
		boolean waits = this.count > 0 && isAnyOf(record, keys);
		if (waits) {
			this.hashes.clear();
			this.count = 0;
		}
		if (keys > 1) {
			for (int key = 0; key < keys; key++) {
				this.hashes.set(record.keyHash(key) & (HASHES - 1));
			}
			this.count += keys;
		}
		return waits;
	}

	private boolean isAnyOf(Record record, int keys) {
		boolean any = this.count > MOST;
		for (int key = 0; key < keys && !any; key++) {
			any = this.hashes.get(record.keyHash(key) & (HASHES - 1));
		}
		return any;
	}

}
