package io.pipeset.record;

/** The words of one command as they are found, the operation's name first. */
final class Command {

	private final RecordLimit limit;

	private final Spans words;

	private boolean tooLong;

	Command(RecordLimit limit) {
		this.limit = limit;
		this.words = new Spans(limit.room());
	}

	/** Forgets the last command. */
	void begin() {
		this.words.clear();
		this.tooLong = false;
	}

	/** Adds a word, by where it stands. */
	void add(int offset, int length) {
		if (this.words.count() > this.limit.arguments()) {
			this.tooLong = true;
			return;
		}
		this.words.add(offset, length);
	}

	/**
	 * Makes the command a record, if it can be one.
	 * @param source where the words stand
	 * @param base what their offsets count from
	 */
	void deliver(Record record, long line, byte[] source, int base) {
		identify(record, line, source, base);
		if (this.tooLong) {
			this.limit.refuseArguments(record);
			return;
		}
		if (!record.hasOperation()) {
			record.reject(Rejection.UNKNOWN_OPERATION,
					unknown(Excerpt.of(source, base + this.words.offset(0), this.words.length(0))));
			return;
		}
		for (int i = 2; i < this.words.count(); i++) {
			record.argument(source, base + this.words.offset(i), this.words.length(i));
		}
		record.check();
	}

	/** Refuses the command, of which perhaps not all words were found. */
	void refuse(Record record, long line, byte[] source, String message) {
		identify(record, line, source, 0);
		record.reject(Rejection.MALFORMED, message);
	}

	/**
	 * Why an operation is refused that the table does not have.
	 * @param excerpt of its name
	 */
	static String unknown(String excerpt) {
		return "operation '" + excerpt + "' is not one that Pipeset sends" + Remedies.ofOperation(excerpt);
	}

	/**
	 * Sets the operation and its first argument, which of another command may be no key.
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
