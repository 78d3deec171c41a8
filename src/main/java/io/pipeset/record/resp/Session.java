package io.pipeset.record.resp;

import java.util.Locale;
import java.util.regex.Pattern;

import io.pipeset.record.Record;
import io.pipeset.record.body.BodyBuffer;
import io.pipeset.record.body.MalformedBodyException;

/**
 * The connection that the commands of a body were written for: its database, and its
 * transactions. Commands about it are no records, and tell where the others belong.
 */
final class Session {

	private static final Pattern DATABASE = Pattern.compile("0|[1-9][0-9]{0,9}");

	private static final String REMEDY = "; send what belongs to each database to a service of that database";

	private final BodyBuffer buffer;

	private final String database;

	private long transactions;

	private boolean inTransaction;

	/**
	 * A session in the database that records are written to.
	 * @param buffer the body, from the command on
	 */
	Session(BodyBuffer buffer, int database) {
		this.buffer = buffer;
		this.database = String.valueOf(database);
	}

	/** The transactions that have begun. */
	long transactions() {
		return this.transactions;
	}

	/**
	 * Takes a command that is about the connection.
	 * @param name the command's name, in any case
	 * @param arguments the number of words after the name
	 * @param first the first of them, or an empty text
	 * @return {@code false} if the command is another, or not a good one
	 * @throws MalformedBodyException if nothing behind it would mean what it says
	 */
	boolean takes(Record record, String name, int arguments, String first) throws MalformedBodyException {
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
				throw lost("DISCARD takes back the commands since MULTI, which have run: MULTI and EXEC are"
						+ " passed over. Take DISCARD out, together with these commands");
			case "SWAPDB", "RESET" -> throw lost("'" + name + "' changes the database, and is not run: the commands"
					+ " behind it would not be of database " + this.database + " any more. End the body here" + REMEDY);
			default -> {
				return false;
			}
		}
	}

	/**
	 * Leaves the database.
	 * @param to the word that names another, or any other text
	 */
	boolean select(Record record, String to) {
		boolean good = DATABASE.matcher(to).matches();
		String where = (good) ? "the record is of database " + to + ", by the SELECT before it"
				: "the record stands behind a SELECT that names no database";
		record.wrongDatabase((to.equals(this.database)) ? null
				: where + "; Pipeset writes to database " + this.database + " (spring.data.redis.database)" + REMEDY);
		return good;
	}

	/**
	 * The body ends.
	 * @throws MalformedBodyException if it ends inside a transaction
	 */
	void end() throws MalformedBodyException {
		if (this.inTransaction) {
			throw lost("the body ends behind a MULTI without its EXEC. The commands behind it have run, and Redis would"
					+ " have run none of them");
		}
	}

	private MalformedBodyException lost(String message) {
		return new MalformedBodyException(this.buffer.offset(this.buffer.start()), message);
	}

}
