package io.pipeset.record;

/**
 * The largest record that is read, so that no body decides how much memory it takes.
 *
 * @param bytes the limit, in bytes
 * @param room where the memory for large records is taken
 */
public record RecordLimit(int bytes, Room room) {

	/** A limit on bytes, with all the memory for them. */
	RecordLimit(int bytes) {
		this(bytes, Room.UNLIMITED);
	}

	/**
	 * Puts a record in the place of one that is over the limit.
	 * @param record where to put it
	 * @param line the record's line, from 1, or 0 where the format has none
	 */
	void refuse(Record record, long line) {
		record.begin(line);
		record.reject(Rejection.TOO_LARGE,
				"the record is larger than " + this.bytes + " bytes (pipeset.limits.max-record-bytes)");
	}

}
