package io.pipeset.record.body;

import io.pipeset.record.Record;

/** Reads one record, or none, from one complete line. */
public interface LineParser {

	/**
	 * Reads a record, and decodes the line in place.
	 * @param record the record to fill; it may be refused
	 * @param line the record's line, from 1, or 0 if the format has none
	 * @param to the index after the last byte
	 * @return {@code false} if the line is not a record; the record is then unchanged
	 * @throws MalformedBodyException if the following lines cannot be read reliably
	 */
	boolean parse(Record record, long line, byte[] bytes, int from, int to) throws MalformedBodyException;

	/**
	 * Counts a line that is too large to be read.
	 * @param line the number of the line, or 0 if the format has none
	 */
	default void skip(long line) {
	}

	/** Looks at a part of a line that is too large to be read. */
	default void skipPart(byte[] bytes, int from, int to) {
	}

	/**
	 * Ends a line that is too large to be read.
	 * @throws MalformedBodyException if the following lines cannot be read reliably
	 */
	default void endSkipped() throws MalformedBodyException {
	}

}
