package io.pipeset.record;

/**
 * The command that several adjacent records of one operation can be coalesced into. This
 * is faster, because Redis spends most of its time on each command, and little on its
 * data. A coalesced command changes the data as its records would one by one, and its
 * reply tells whether each record succeeded.
 */
public enum CoalescedCommand {

	/** Not coalesced: each record is a command of its own. */
	NONE,

	/** MSET, for SETs without options. */
	MSET,

	/** MSETEX, for SETs with the same expiry and no other option. */
	MSETEX,

	/** The same command with a count, for pops of one value from the same list. */
	COUNT,

	/**
	 * The same command with all elements, for pushes to the same list. The reply is the
	 * list's length, which gives the length after each record.
	 */
	ELEMENTS,

	/** The same command with all members or fields of one key. */
	MEMBERS,

	/** The same as {@link #MEMBERS}, for members whose scores are certainly numbers. */
	SCORED_MEMBERS,

	/** The same command with all keys, for records of one key each. */
	KEYS;

	/**
	 * Whether the records may have different keys.
	 * @return {@code false} if all records have the same key
	 */
	public boolean hasSeveralKeys() {
		return this == MSET || this == MSETEX || this == KEYS;
	}

	/**
	 * Whether each record's own reply can be derived from the reply of the coalesced
	 * command.
	 * @return {@code false} if the reply only tells whether the records succeeded
	 */
	public boolean hasRecordReplies() {
		return this == MSET || this == MSETEX || this == COUNT || this == ELEMENTS;
	}

}
