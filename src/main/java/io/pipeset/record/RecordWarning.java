package io.pipeset.record;

/** What a good record gives reason to say to its sender. */
public enum RecordWarning {

	/** A number that a double cannot hold. */
	ROUNDED_SCORE("Scores or increments that Redis cannot keep",
			"A score is a double, which holds integers up to 9007199254740992 and 17 digits. Different numbers may have"
					+ " become one. Keep identifiers and times of nanoseconds in the member, and sums of money as cents"
					+ " in HINCRBY."),

	/** An expiry in the past. */
	EXPIRED_AT_ONCE("Expiries in the past, so that their keys or fields are gone",
			"They may be seconds where milliseconds belong, or a word of another system for never."),

	/** An expiry beyond the year 9999. */
	FAR_EXPIRY("Expiries beyond the year 9999", "They are probably milliseconds where seconds belong.");

	private final String what;

	private final String advice;

	RecordWarning(String what, String advice) {
		this.what = what;
		this.advice = advice;
	}

	/** The message about a number of them. */
	public String detail(long count) {
		return this.what + ": " + count + ". " + this.advice;
	}

}
