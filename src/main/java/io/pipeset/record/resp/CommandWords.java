package io.pipeset.record.resp;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.body.Remedies;
import io.pipeset.record.body.Spans;
import io.pipeset.record.encoding.Excerpt;

/** The words of one command as they are found, the operation's name first. */
final class CommandWords {

	private final RecordLimit limit;

	private final Spans words;

	private boolean tooLong;

	CommandWords(RecordLimit limit) {
		this.limit = limit;
		this.words = new Spans(limit.room());
	}

	/** Forgets the last command. */
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
	 * @param base the place from which their offsets count
	 */
	void deliver(Record record, long line, byte[] source, int base) {
		identify(record, line, source, base);
		if (this.tooLong) {
			this.limit.refuseArguments(record);
			return;
		}
		if (!record.hasOperation()) {
			record.reject(Rejection.UNKNOWN_OPERATION,
					Remedies.unknownOperation(Excerpt.of(source, base + this.words.offset(0), this.words.length(0))));
			return;
		}
		for (int i = 2; i < this.words.count(); i++) {
			record.argument(source, base + this.words.offset(i), this.words.length(i));
		}
		record.check();
	}

	/** Refuses the command; perhaps not all of its words were found. */
	void refuse(Record record, long line, byte[] source, String message) {
		identify(record, line, source, 0);
		record.reject(Rejection.MALFORMED, message);
	}

	/**
	 * Sets the operation and its first argument. An unknown command gets none, as its
	 * first argument may not be a key.
	 */
	private void identify(Record record, long line, byte[] source, int base) {
		record.begin(line);
		if (this.words.count() > 0) {
			Operation operation = Operation.find(source, base + this.words.offset(0), this.words.length(0));
			if (operation != null) {
				record.operation(operation);
				if (this.words.count() > 1) {
					record.argument(source, base + this.words.offset(1), this.words.length(1));
				}
			}
		}
	}

}
