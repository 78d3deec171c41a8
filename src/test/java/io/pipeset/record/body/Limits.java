package io.pipeset.record.body;

import io.pipeset.record.memory.MemoryReservation;

/** Limits of records, for tests. */
public final class Limits {

	private Limits() {
	}

	/**
	 * A limit on the bytes of a record, with the default limit on its arguments, and
	 * memory without a limit.
	 * @param bytes the largest record
	 * @return the limit
	 */
	public static RecordLimit ofBytes(int bytes) {
		return new RecordLimit(bytes, RecordLimit.DEFAULT_ARGUMENTS, MemoryReservation.UNLIMITED);
	}

}
