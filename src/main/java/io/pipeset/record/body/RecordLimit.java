package io.pipeset.record.body;

import io.pipeset.record.OperationFinder;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.memory.MemoryReservation;

/**
 * The limits of records in a body: their size, so that no body decides how much memory it
 * needs, and the database that they are written to.
 *
 * @param bytes the largest size of a record as it is written
 * @param arguments the largest number of arguments after its operation's name
 * @param database the only database whose records are good
 * @param operations finds the operations that records name
 */
public record RecordLimit(int bytes, int arguments, MemoryReservation memory, int database,
		OperationFinder operations) {

	/**
	 * The default for {@code arguments}. Before 7.0, Redis allowed 1,048,576 words in a
	 * command.
	 */
	public static final int DEFAULT_ARGUMENTS = 1_000_000;

	/** The bounds of records of database 0, whose operations are those of the table. */
	public RecordLimit(int bytes, int arguments, MemoryReservation memory) {
		this(bytes, arguments, memory, 0, OperationFinder.TABLE);
	}

	/** The same limits, with memory of another reservation. */
	public RecordLimit withMemory(MemoryReservation other) {
		return new RecordLimit(this.bytes, this.arguments, other, this.database, this.operations);
	}

	/**
	 * Begins a record, and refuses it because it is too large.
	 * @param line the record's line, from 1, or 0 if the format has none
	 */
	public void refuse(Record record, long line) {
		record.begin(line);
		Rejection rejection = tooLarge();
		record.reject(rejection.code(), rejection.message());
	}

	/** The rejection of a record that is too large to be read. */
	public Rejection tooLarge() {
		return new Rejection(Rejection.TOO_LARGE,
				"the record is larger than " + this.bytes + " bytes (pipeset.limits.max-record-bytes)");
	}

	/** Refuses a record that has begun, because it has too many arguments. */
	public void refuseArguments(Record record) {
		record.reject(Rejection.TOO_LARGE, tooManyArguments());
	}

	/** The message for a record with too many arguments. */
	public String tooManyArguments() {
		return "the record has more than " + this.arguments + " arguments (pipeset.limits.max-arguments)";
	}

}
