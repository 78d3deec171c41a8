package io.pipeset.record;

import java.nio.charset.StandardCharsets;

/**
 * The effect of running a record: whether a repeat would do something else, and how the
 * reply is to be read. Each operation has an effect of its own, which a record's options
 * may change: a SET overwrites, a SET with NX does not always.
 */
public enum Effect {

	/**
	 * A repeat leaves the same data. Any reply but an error says that the command ran.
	 */
	REPEATABLE,

	/**
	 * A repeat takes, adds or pushes once more, or may find a condition changed that held
	 * the first time. Any reply but an error says that the command ran.
	 */
	ONCE,

	/** Not to be repeated; a nil says that the condition did not hold. */
	CONDITIONAL,

	/** A repeat leaves the same data; 0 says that there was nothing to do. */
	COUNTED,

	/** Not to be repeated; 0 says that there was nothing to do. */
	COUNTED_ONCE,

	/**
	 * Not to be repeated; the reply is the value that was there before and kept the
	 * command from writing. A nil says that it wrote.
	 */
	GET_IF_ABSENT,

	/**
	 * Not to be repeated; the reply is a list with the reply to each part of the record,
	 * some of which may be errors though others ran.
	 */
	PARTS,

	/**
	 * Not to be repeated; the reply's values are no longer in Redis. A nil or an empty
	 * list says that there were none.
	 */
	POP,

	/**
	 * A pop that leaves the value in Redis, in another list: RPOP as
	 * {@code LMOVE key list RIGHT LEFT}. Only the service itself makes such records.
	 */
	MOVE;

	private static final byte[] LMOVE = "$5\r\nLMOVE\r\n".getBytes(StandardCharsets.US_ASCII);

	/** Whether a repeat leaves the same data. */
	public boolean isRepeatable() {
		return this == REPEATABLE || this == COUNTED;
	}

	/** Whether the command takes the reply's values from their list. */
	public boolean takesValues() {
		return this == POP || this == MOVE;
	}

	/**
	 * Whether the reply has to be read as a whole, whoever wants to see it.
	 * @return {@code true} if its elements matter, or its number
	 */
	public boolean needsReply() {
		return takesValues() || this == PARTS || tellsByNumber();
	}

	/** Whether the reply is a number, of which 0 says that there was nothing to do. */
	public boolean tellsByNumber() {
		return this == COUNTED || this == COUNTED_ONCE;
	}

	/**
	 * Whether the values that were taken can be read once more, from the list that they
	 * were moved to.
	 */
	public boolean keepsValues() {
		return this == MOVE;
	}

	/**
	 * The command's name as the first bulk string of RESP; not to be modified.
	 * @return its own name, unless this effect has it run as another command
	 */
	public byte[] command(Operation operation) {
		return (this == MOVE) ? LMOVE : operation.resp();
	}

	/**
	 * Whether the reply tells by having a value, whichever it is, if the command did
	 * anything.
	 * @return {@code true} if a value may mean that there was nothing to do
	 */
	public boolean notesValues() {
		return this == GET_IF_ABSENT;
	}

	/**
	 * Whether a reply that is not an error says that the command found nothing to do.
	 * @param empty whether it is an empty list, or 0
	 */
	public boolean isNoop(boolean nil, boolean empty) {
		return switch (this) {
			case REPEATABLE, ONCE, PARTS -> false;
			case CONDITIONAL -> nil;
			case GET_IF_ABSENT -> !nil;
			case POP, MOVE -> nil || empty;
			case COUNTED, COUNTED_ONCE -> empty;
		};
	}

}
