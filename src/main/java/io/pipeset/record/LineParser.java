package io.pipeset.record;

/** Reads one record out of one complete line. */
interface LineParser {

	/**
	 * Reads a record, decoding it where it stands.
	 * @param record where to put it, good or refused
	 * @param line its line, from 1, or 0 where the format has none
	 * @param bytes where it stands
	 * @param from its first byte
	 * @param to the byte after it
	 */
	void parse(Record record, long line, byte[] bytes, int from, int to);

}
