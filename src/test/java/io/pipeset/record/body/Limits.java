package io.pipeset.record.body;

import io.pipeset.record.room.Room;

/** Limits of records, for tests. */
public final class Limits {

	private Limits() {
	}

	/**
	 * A limit on bytes, with the usual one on arguments and all the memory for them.
	 * @param bytes the largest record
	 * @return the limit
	 */
	public static RecordLimit ofBytes(int bytes) {
		return new RecordLimit(bytes, RecordLimit.DEFAULT_ARGUMENTS, Room.UNLIMITED);
	}

}
