package io.pipeset.engine.lane;

import java.util.BitSet;

import io.pipeset.record.Record;

/**
 * The keys of multi-key records that a lane to a cluster master may have in flight. While
 * a slot moves, Redis answers such a record with {@code TRYAGAIN}, but still runs later
 * records of one of its keys. So a later record waits for that answer, unless the master
 * has just reported that no slot moves. Keys are stored as hashes: a collision costs a
 * wait, but never the order.
 */
final class InFlightKeys {

	/** The number of different hashes, a power of two. */
	private static final int HASHES = 1 << 16;

	/** Most keys in flight. With more, hashes would collide too often. */
	private static final int MAX_KEYS = HASHES / 16;

	private final BitSet hashes = new BitSet(0);

	private int count;

	/**
	 * Adds the keys of a record that is about to be sent.
	 * @return whether the record has to wait until all earlier records are answered
	 */
	boolean track(Record record) {
		int keys = record.keyCount();
		boolean waits = this.count > 0 && mayBeInFlight(record, keys);
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

	private boolean mayBeInFlight(Record record, int keys) {
		boolean any = this.count > MAX_KEYS;
		for (int key = 0; key < keys && !any; key++) {
			any = this.hashes.get(record.keyHash(key) & (HASHES - 1));
		}
		return any;
	}

}
