package io.pipeset.record;

import java.io.IOException;

/** Where a job's records come from, one at a time. */
public interface RecordReader {

	/**
	 * Reads the next record. A bad record is one too: it comes back with its
	 * {@link Record#rejection() rejection}, and the one after it can be read.
	 * @param record where to put it; what it held before is lost
	 * @return {@code false} at the end, with the record untouched
	 * @throws MalformedBodyException if no further record can be told from the bytes
	 * @throws IOException if the body cannot be read
	 */
	boolean read(Record record) throws IOException;

}
