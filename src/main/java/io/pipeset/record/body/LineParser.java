package io.pipeset.record.body;

import io.pipeset.record.Record;

/** Reads one record out of one complete line. */
public interface LineParser {

	/**
	 * Reads a record, and decodes it in place.
	 * @param record the record to fill, good or refused
	 * @param line the record's line, from 1, or 0 if the format has none
	 * @param to the byte after it
	 */
	void parse(Record record, long line, byte[] bytes, int from, int to);

}
