package io.pipeset.report;

import java.util.Map;
import java.util.TreeMap;

/**
 * How many records of a job have each error code, listed or not. A script may answer any
 * word as its code, so only so many words are counted apart, and only short ones.
 */
public final class ErrorCodes {

	/** The name under which all other codes are added up. */
	static final String OTHER = "(other)";

	static final int MOST = 50;

	static final int MOST_CHARACTERS = 32;

	private final Map<String, Long> records = new TreeMap<>();

	ErrorCodes() {
	}

	/**
	 * Counts records.
	 * @param count how many have it; 0 leaves the counts as they are
	 */
	public synchronized void add(String code, long count) {
		if (count > 0) {
			boolean apart = !code.isEmpty() && code.length() <= MOST_CHARACTERS
					&& (this.records.size() < MOST || this.records.containsKey(code));
			this.records.merge((apart) ? code : OTHER, count, Long::sum);
		}
	}

	public synchronized Map<String, Long> counts() {
		return new TreeMap<>(this.records);
	}

}
