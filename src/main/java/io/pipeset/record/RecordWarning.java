package io.pipeset.record;

/** What a good record gives reason to say to its sender. */
public enum RecordWarning {

	/** A number that a double cannot hold. */
	ROUNDED_SCORE(
			"scores or increments are numbers that Redis cannot keep: a score is a double, which holds integers up"
					+ " to 9007199254740992 and 17 digits. Different numbers may have become one. Keep identifiers and times of"
					+ " nanoseconds in the member, and sums of money as cents in HINCRBY"),

	/** An expiry in the past. */
	EXPIRED_AT_ONCE("expiries are in the past, so that their keys or fields are gone: they may be seconds where"
			+ " milliseconds belong, or a word of another system for never"),

	/** An expiry beyond the year 9999. */
	FAR_EXPIRY("expiries are beyond the year 9999: they are probably milliseconds where seconds belong");

	private final String detail;

	RecordWarning(String detail) {
		this.detail = detail;
	}

	/** The message about a number of records, without the number before it. */
	public String detail() {
		return this.detail;
	}

}
