package io.pipeset.record;

/**
 * The common command that neighbouring records of an operation can be sent as. Redis
 * spends most of its time on the command, and little on the data. A common command leaves
 * the same data as its records would one after the other, and its reply tells the outcome
 * of each.
 */
public enum CoalescedCommand {

	/** There is none: each record goes by itself. */
	NONE,

	/** MSET, for SETs without options. */
	MSET,

	/** MSETEX, for SETs with the same expiry and no other option. */
	MSETEX,

	/** The same command with a count, for pops of one value from one list. */
	COUNT,

	/**
	 * The same command with all elements, for pushes to one list. Its reply, the length
	 * of the list, tells that of each record.
	 */
	ELEMENTS,

	/** The same command with all members or fields of one key. */
	MEMBERS,

	/** The same, for members whose scores are surely numbers. */
	SCORED_MEMBERS,

	/** The same command with all keys, for records of one key each. */
	KEYS;

	/**
	 * Whether the records may be of different keys.
	 * @return {@code false} if all of them name the same key
	 */
	public boolean hasSeveralKeys() {
		return this == MSET || this == MSETEX || this == KEYS;
	}

	/**
	 * Whether the reply tells the reply that each record would have had by itself.
	 * @return {@code false} if it tells no more than that all of them ran
	 */
	public boolean tellsReplies() {
		return this == MSET || this == MSETEX || this == COUNT || this == ELEMENTS;
	}

}
