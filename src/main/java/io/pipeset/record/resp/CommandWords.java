package io.pipeset.record.resp;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.FormatHints;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.body.Spans;
import io.pipeset.record.encoding.Excerpt;
import org.jspecify.annotations.Nullable;

/** Collects the words of one command. The first word is the operation's name. */
final class CommandWords {

	private final RecordLimit limit;

	private final Spans words;

	private final Session session;

	private boolean tooLong;

	CommandWords(RecordLimit limit, Session session) {
		this.limit = limit;
		this.session = session;
		this.words = new Spans(limit.memory());
	}

	/** Removes the words of the previous command. */
	void begin() {
		this.words.clear();
		this.tooLong = false;
	}

	void add(int offset, int length) {
		if (this.words.count() > this.limit.arguments()) {
			this.tooLong = true;
			return;
		}
		this.words.add(offset, length);
	}

	/**
	 * Fills a record with the command, or refuses it.
	 * @param base the index that the words' offsets are relative to
	 * @return {@code false} if the command only concerns the connection, and is not a
	 * record
	 * @throws MalformedBodyException if the following commands cannot be read reliably
	 */
	boolean deliver(Record record, long line, byte[] source, int base) throws MalformedBodyException {
		Operation operation = operation(source, base);
		if (operation == null && this.session.handle(record, word(0, source, base), this.words.count() - 1,
				(this.words.count() > 1) ? word(1, source, base) : "")) {
			return false;
		}
		identify(record, line, operation, source, base);
		if (this.tooLong) {
			this.limit.refuseArguments(record);
		}
		else if (operation != null) {
			for (int i = 2; i < this.words.count(); i++) {
				record.argument(source, base + this.words.offset(i), this.words.length(i));
			}
		}
		else if (isSelect(source, base)) {
			record.reject(Rejection.MALFORMED, "SELECT takes a database's number and nothing else");
		}
		else if (!record.isOfWrongDatabase()) {
			record.reject(Rejection.UNKNOWN_OPERATION,
					FormatHints.unknownOperation(word(0, source, base), this.limit.operations()));
		}
		record.check();
		return true;
	}

	/** Refuses the command. Not all of its words may have been found. */
	void refuse(Record record, long line, byte[] source, int base, String message) {
		identify(record, line, operation(source, base), source, base);
		if (isSelect(source, base)) {
			this.session.select(record, "");
		}
		record.reject(Rejection.MALFORMED, message);
	}

	/**
	 * Sets the operation and its first argument. An unknown command gets no argument,
	 * because its first argument may not be a key.
	 */
	private void identify(Record record, long line, @Nullable Operation operation, byte[] source, int base) {
		record.begin(line);
		if (operation != null) {
			record.operation(operation);
			if (this.words.count() > 1) {
				record.argument(source, base + this.words.offset(1), this.words.length(1));
			}
		}
	}

	private @Nullable Operation operation(byte[] source, int base) {
		return (this.words.count() > 0)
				? this.limit.operations().find(source, base + this.words.offset(0), this.words.length(0)) : null;
	}

	private boolean isSelect(byte[] source, int base) {
		return this.words.count() > 0 && word(0, source, base).equalsIgnoreCase("SELECT");
	}

	private String word(int word, byte[] source, int base) {
		return Excerpt.of(source, base + this.words.offset(word), this.words.length(word));
	}

}
