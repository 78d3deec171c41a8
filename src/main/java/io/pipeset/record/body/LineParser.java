package io.pipeset.record.body;

import io.pipeset.record.Record;

/** Reads one record, or none, out of one complete line. */
public interface LineParser {

	/**
	 * Reads a record, and decodes it in place.
	 * @param record the record to fill, good or refused
	 * @param line the record's line, from 1, or 0 if the format has none
	 * @param to the byte after it
	 * @return {@code false} if the line is no record; the record is then untouched
	 * @throws MalformedBodyException if the lines after it would not mean what they say
	 */
	boolean parse(Record record, long line, byte[] bytes, int from, int to) throws MalformedBodyException;

}
