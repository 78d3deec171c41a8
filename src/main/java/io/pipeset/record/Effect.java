package io.pipeset.record;

import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/**
 * The effect of running a record: whether repeating it changes the data again, and how to
 * read the reply. Each operation has an effect. The options of a record may change it: a
 * SET overwrites, but a SET with NX does not always.
 */
public enum Effect {

	/**
	 * A repeat leaves the same data. Any reply except an error means that the command
	 * ran.
	 */
	REPEATABLE,

	/**
	 * A repeat removes, adds or pushes once more, or a condition that held the first time
	 * may no longer hold. Any reply except an error means that the command ran.
	 */
	ONCE,

	/** Not repeatable. A nil means that the condition did not hold. */
	CONDITIONAL,

	/**
	 * A repeat leaves the same data. 0, or a negative number, means that there was
	 * nothing to do.
	 */
	COUNTED,

	/** The same, not repeatable. */
	COUNTED_ONCE,

	/**
	 * Not repeatable. The reply is a list with one reply for each part of the record, and
	 * a nil for each part that did nothing.
	 */
	BITS,

	/**
	 * A repeat leaves the same data. The reply is a list with one number for each field,
	 * which is not positive if nothing was done.
	 */
	FIELDS,

	/** The same, not repeatable. */
	FIELDS_ONCE,

	/**
	 * Not repeatable. The reply is the existing value, which kept the command from
	 * writing. A nil means that it wrote.
	 */
	GET_IF_ABSENT,

	/**
	 * Not repeatable. The reply is a list with one reply for each part of the record.
	 * Some of them may be errors although other parts ran.
	 */
	PARTS,

	/**
	 * Not repeatable. The command removes the values in its reply from Redis. A nil or an
	 * empty list means that there were none.
	 */
	POP,

	/**
	 * Not to be repeated, of an operation that only the server describes: the strings in
	 * the reply may exist nowhere else any more, and an array may have errors in it.
	 */
	DESCRIBED,

	/**
	 * The same, whose caller does not want these strings.
	 */
	DESCRIBED_UNLISTED,

	/**
	 * A pop that keeps the value in Redis, in another list: RPOP as {@code LMOVE key list
	 * RIGHT LEFT}. Only the service itself creates such records.
	 */
	MOVE;

	private static final byte[] LMOVE = "$5\r\nLMOVE\r\n".getBytes(StandardCharsets.US_ASCII);

	/** Whether a repeat leaves the same data. */
	public boolean isRepeatable() {
		return this == REPEATABLE || this == COUNTED || this == FIELDS;
	}

	/** Whether the command removes the values in its reply from their list. */
	public boolean isPop() {
		return this == POP || this == MOVE;
	}

	/**
	 * Whether the reply has to be read completely, even if the report does not show it.
	 * @return {@code true} if the outcome depends on the reply's elements or number
	 */
	public boolean needsReply() {
		return isPop() || this == PARTS || isDescribed() || tellsByNumber() || tellsByParts();
	}

	/** Whether only the server describes the operation. */
	public boolean isDescribed() {
		return this == DESCRIBED || this == DESCRIBED_UNLISTED;
	}

	/** Whether the reply is a number, and 0 means that there was nothing to do. */
	public boolean tellsByNumber() {
		return this == COUNTED || this == COUNTED_ONCE;
	}

	/** Whether the reply has an element for each part, which tells whether it ran. */
	public boolean tellsByParts() {
		return this == BITS || this == FIELDS || this == FIELDS_ONCE;
	}

	/**
	 * Whether a part of a record did nothing.
	 * @param element its element of the reply
	 */
	public boolean isIdlePart(@Nullable Object element) {
		return element == null || (this != BITS && element instanceof Number number && number.longValue() <= 0);
	}

	/**
	 * Whether the popped values can be read again, from the list that they were moved to.
	 */
	public boolean keepsValues() {
		return this == MOVE;
	}

	/**
	 * The command's name as the first bulk string of RESP; not to be modified.
	 * @return the operation's own name, unless this effect uses another command
	 */
	public byte[] command(Operation operation) {
		return (this == MOVE) ? LMOVE : operation.resp();
	}

	/**
	 * Whether the presence of any value in the reply shows if the command did anything.
	 * @return {@code true} if a value means that there was nothing to do
	 */
	public boolean notesValues() {
		return this == GET_IF_ABSENT;
	}

	/**
	 * Whether a reply that is not an error means that the command was a no-op.
	 * @param empty whether the reply is an empty list, a number that is not positive, or
	 * only parts that did nothing
	 */
	public boolean isNoop(boolean nil, boolean empty) {
		return switch (this) {
			case REPEATABLE, ONCE, PARTS, DESCRIBED, DESCRIBED_UNLISTED -> false;
			case CONDITIONAL -> nil;
			case GET_IF_ABSENT -> !nil;
			case POP, MOVE -> nil || empty;
			case COUNTED, COUNTED_ONCE, BITS, FIELDS, FIELDS_ONCE -> empty;
		};
	}

}
