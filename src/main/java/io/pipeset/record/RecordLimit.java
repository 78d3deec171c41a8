package io.pipeset.record;

/**
 * The largest record that is read, so that no body decides how much memory it takes.
 *
 * @param bytes how large it may be as it is written
 * @param arguments how many there may be after its operation's name
 * @param room where the memory for large records is taken
 */
public record RecordLimit(int bytes, int arguments, Room room) {

	/**
	 * As many arguments as suit Redis, which took 1,048,576 words in a command before
	 * 7.0.
	 */
	public static final int DEFAULT_ARGUMENTS = 1_000_000;

	/** A limit on bytes, with the usual one on arguments and all the memory for them. */
	RecordLimit(int bytes) {
		this(bytes, DEFAULT_ARGUMENTS, Room.UNLIMITED);
	}

	/**
	 * Puts a record in the place of one that is too large.
	 * @param record where to put it
	 * @param line the record's line, from 1, or 0 where the format has none
	 */
	void refuse(Record record, long line) {
		record.begin(line);
		record.reject(Rejection.TOO_LARGE,
				"the record is larger than " + this.bytes + " bytes (pipeset.limits.max-record-bytes)");
	}

	/** Refuses a record that has begun for the number of its arguments. */
	void refuseArguments(Record record) {
		record.reject(Rejection.TOO_LARGE, tooManyArguments());
	}

	/** Why a record is refused for the number of its arguments. */
	String tooManyArguments() {
		return "the record has more than " + this.arguments + " arguments (pipeset.limits.max-arguments)";
	}

}
