package io.pipeset.record;

/**
 * What there is to know of a record once it is sent: what running it a second time would
 * do, and how its reply reads. An operation has a form of its own, which a record's
 * options may change: a SET overwrites, a SET with NX does not always.
 */
public enum Form {

	/**
	 * A repeat leaves the same data. Whatever Redis answers, short of an error, it ran.
	 */
	REPEATABLE,

	/**
	 * A repeat takes, adds or pushes once more, or may find a condition changed that held
	 * the first time. Whatever Redis answers, short of an error, it ran.
	 */
	ONCE,

	/** Not to be repeated; a nil says that its condition did not hold. */
	CONDITIONAL,

	/**
	 * Not to be repeated; answers the value that was there, which kept it from writing: a
	 * nil says that it wrote.
	 */
	GET_IF_ABSENT,

	/**
	 * Not to be repeated; the reply's values are no longer in Redis, and nil or no values
	 * say that there were none.
	 */
	POP;

	/**
	 * Whether running it once more leaves the same data.
	 * @return {@code false} where a repeat may do something else
	 */
	public boolean isRepeatable() {
		return this == REPEATABLE;
	}

	/**
	 * Whether the reply's values exist nowhere else any more.
	 * @return {@code true} where losing the reply loses data
	 */
	public boolean takesValues() {
		return this == POP;
	}

	/**
	 * Whether it matters that there is a value in the reply, if not which.
	 * @return {@code true} where a value may tell a noop
	 */
	public boolean notesValues() {
		return this == GET_IF_ABSENT;
	}

	/**
	 * What a reply that is not an error says.
	 * @param nil whether it is a nil
	 * @param empty whether it is a list of nothing
	 * @return {@code true} where there was nothing to do
	 */
	public boolean isNoop(boolean nil, boolean empty) {
		return switch (this) {
			case REPEATABLE, ONCE -> false;
			case CONDITIONAL -> nil;
			case GET_IF_ABSENT -> !nil;
			case POP -> nil || empty;
		};
	}

}
