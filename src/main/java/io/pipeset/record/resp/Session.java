package io.pipeset.record.resp;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

import io.pipeset.record.Notice;
import io.pipeset.record.Record;
import io.pipeset.record.body.BodyBuffer;
import io.pipeset.record.body.MalformedBodyException;

/**
 * The state of the connection that the body's commands were written for: its database and
 * its transactions. SELECT, MULTI and EXEC are not records; they only change this state.
 */
final class Session {

	private static final Pattern DATABASE = Pattern.compile("0|[1-9][0-9]{0,9}");

	private static final String ADVICE = "; send the records of each database to a service for that database";

	private final BodyBuffer buffer;

	private final String database;

	private long transactions;

	private boolean inTransaction;

	/**
	 * Begins in the database that records are written to.
	 * @param buffer the body; it begins with the current command
	 */
	Session(BodyBuffer buffer, int database) {
		this.buffer = buffer;
		this.database = String.valueOf(database);
	}

	/** What the commands so far give reason to say to the sender. */
	List<Notice> notices() {
		return (this.transactions == 0) ? List.of() : List.of(new Notice("TRANSACTIONS_IGNORED", "The body has "
				+ this.transactions + ((this.transactions == 1) ? " MULTI command" : " MULTI commands")
				+ ". MULTI and EXEC are ignored, and the commands between them run like other records: clients may see"
				+ " a part of them, and a part of them may fail. For transactions, send atomic=batch.",
				this.transactions, 0));
	}

	/**
	 * Handles a command that only concerns the connection.
	 * @param name the command's name, in any case
	 * @param arguments the number of words after the name
	 * @param first the first of these words, or an empty text
	 * @return {@code false} if it is another command, or an invalid one
	 * @throws MalformedBodyException if the following commands would not mean what they
	 * say
	 */
	boolean handle(Record record, String name, int arguments, String first) throws MalformedBodyException {
		switch (name.toUpperCase(Locale.ROOT)) {
			case "SELECT" -> {
				return select(record, (arguments == 1) ? first : "");
			}
			case "MULTI" -> {
				if (arguments == 0 && !this.inTransaction) {
					this.inTransaction = true;
					this.transactions++;
				}
				return arguments == 0;
			}
			case "EXEC" -> {
				this.inTransaction &= arguments > 0;
				return arguments == 0;
			}
			case "DISCARD" ->
				throw lost("DISCARD would undo the commands since MULTI, but they have run: MULTI and EXEC are"
						+ " ignored. Remove DISCARD together with these commands");
			case "SWAPDB", "RESET" -> throw lost("'" + name + "' changes the database, and is not run: the commands"
					+ " after it would no longer belong to database " + this.database + ". End the body here" + ADVICE);
			default -> {
				return false;
			}
		}
	}

	/**
	 * Changes the database.
	 * @param to the database's number; any other text if the SELECT is invalid
	 */
	boolean select(Record record, String to) {
		boolean good = DATABASE.matcher(to).matches();
		String where = (good) ? "the record belongs to database " + to + ", because of the SELECT before it"
				: "the record follows a SELECT that names no database";
		record.wrongDatabase((to.equals(this.database)) ? null
				: where + "; Pipeset writes to database " + this.database + " (spring.data.redis.database)" + ADVICE);
		return good;
	}

	/**
	 * Checks the state at the end of the body.
	 * @throws MalformedBodyException if it ends inside a transaction
	 */
	void end() throws MalformedBodyException {
		if (this.inTransaction) {
			throw lost("the body ends after a MULTI without its EXEC. The commands after it have run, but Redis would"
					+ " have run none of them");
		}
	}

	/** The exception for a body whose next commands cannot be read reliably. */
	MalformedBodyException lost(String message) {
		return new MalformedBodyException(this.buffer.offset(this.buffer.start()), message);
	}

}
