package io.pipeset.record.body;

import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.memory.MemoryReservation;

/**
 * The bounds of the records that are read: the largest one, so that no body decides how
 * much memory it takes, and the database that they are written to.
 *
 * @param bytes the largest size of a record as it is written
 * @param arguments the largest number of arguments after its operation's name
 * @param database the only database whose records are good
 */
public record RecordLimit(int bytes, int arguments, MemoryReservation room, int database) {

	/**
	 * The usual number of arguments. Redis took 1,048,576 words in a command before 7.0.
	 */
	public static final int DEFAULT_ARGUMENTS = 1_000_000;

	/** The bounds of records of database 0. */
	public RecordLimit(int bytes, int arguments, MemoryReservation room) {
		this(bytes, arguments, room, 0);
	}

	/**
	 * Makes a record a refused one that was too large to be read.
	 * @param line the record's line, from 1, or 0 if the format has none
	 */
	public void refuse(Record record, long line) {
		record.begin(line);
		record.reject(Rejection.TOO_LARGE,
				"the record is larger than " + this.bytes + " bytes (pipeset.limits.max-record-bytes)");
	}

	/** Refuses a record that has begun, as it has too many arguments. */
	public void refuseArguments(Record record) {
		record.reject(Rejection.TOO_LARGE, tooManyArguments());
	}

	/** The reason why a record with too many arguments is refused. */
	public String tooManyArguments() {
		return "the record has more than " + this.arguments + " arguments (pipeset.limits.max-arguments)";
	}

}
