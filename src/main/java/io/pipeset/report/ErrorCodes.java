package io.pipeset.report;

import java.util.Map;
import java.util.TreeMap;

/**
 * Counts the records of a job by error code, listed or not. A script may reply with any
 * word as its code, so the number and the length of the codes are bounded.
 */
public final class ErrorCodes {

	/** The code that stands for all codes beyond the bounds. */
	static final String OTHER = "(other)";

	static final int MAX_CODES = 50;

	static final int MAX_CODE_LENGTH = 32;

	private final Map<String, Long> records = new TreeMap<>();

	ErrorCodes() {
	}

	/**
	 * Counts records.
	 * @param count the number of records with the code; 0 changes nothing
	 */
	public synchronized void add(String code, long count) {
		if (count > 0) {
			boolean counted = !code.isEmpty() && code.length() <= MAX_CODE_LENGTH
					&& (this.records.size() < MAX_CODES || this.records.containsKey(code));
			this.records.merge((counted) ? code : OTHER, count, Long::sum);
		}
	}

	public synchronized Map<String, Long> counts() {
		return new TreeMap<>(this.records);
	}

}
