package io.pipeset.record;

import java.nio.charset.StandardCharsets;

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
	POP,

	/**
	 * A pop that leaves the value in Redis, in another list: RPOP as
	 * {@code LMOVE key list RIGHT LEFT}. Only the service itself makes such records.
	 */
	MOVE;

	private static final byte[] LMOVE = "$5\r\nLMOVE\r\n".getBytes(StandardCharsets.US_ASCII);

	/**
	 * Whether running it once more leaves the same data.
	 * @return {@code false} where a repeat may do something else
	 */
	public boolean isRepeatable() {
		return this == REPEATABLE;
	}

	/**
	 * Whether the reply's values are no longer where they were.
	 * @return {@code true} where losing the reply loses them
	 */
	public boolean takesValues() {
		return this == POP || this == MOVE;
	}

	/**
	 * Whether what was taken can be read once more from where it was moved to.
	 * @return {@code true} where no reply is ever lost for good
	 */
	public boolean keepsValues() {
		return this == MOVE;
	}

	/**
	 * The command's name as the first bulk string of RESP; not to be modified.
	 * @param operation the record's operation
	 * @return its own name, unless this form has it run as another command
	 */
	public byte[] command(Operation operation) {
		return (this == MOVE) ? LMOVE : operation.resp();
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
			case POP, MOVE -> nil || empty;
		};
	}

}
