package io.pipeset.record;

import java.io.IOException;

/** The source of a job's records, one at a time. */
public interface RecordReader {

	/**
	 * Reads the next record. A bad record is also a record: it comes back with its
	 * {@link Record#rejection() rejection}, and the one after it can be read.
	 * @param record the record to fill; it loses all it held before
	 * @return {@code false} at the end, with the record untouched
	 * @throws IOException if the body cannot be read, or no further record can be told
	 * from its bytes
	 */
	boolean read(Record record) throws IOException;

	/**
	 * The transactions in the body so far, of which only the commands count.
	 * @return 0 or more
	 */
	default long transactions() {
		return 0;
	}

	/**
	 * The part of the bytes taken from the body so far that records were read from; the
	 * rest waits in a buffer. Any thread may ask at any time.
	 * @return 0 to 1
	 */
	default double consumed() {
		return 1;
	}

}
