package io.pipeset.record.resp;

/**
 * Finds out whether a line ends in quotes that began a word, so that the next lines
 * belong to it. It reads words by the same rules as {@link TextParser}, across any number
 * of parts. A quote in the middle of a word that is not closed may be an apostrophe, so
 * what follows it is read once more as if it were no quote.
 */
final class QuoteScanner {

	private final State words = new State();

	private final State afterApostrophe = new State();

	/** Begins a line. */
	void begin() {
		begin((byte) 0, true);
	}

	/**
	 * Begins in the middle of a line.
	 * @param quote the quote that is open; 0 for none
	 * @param atStart whether the next byte may begin a word
	 */
	void begin(byte quote, boolean atStart) {
		this.words.begin(quote, atStart);
	}

	/** Reads a part of the line. */
	void scan(byte[] bytes, int from, int to) {
		for (int i = from; i < to; i++) {
			byte b = bytes[i];
			if (this.words.quote != 0 && !this.words.beganWord) {
				this.afterApostrophe.read(b, false);
			}
			boolean open = this.words.quote != 0;
			this.words.read(b, true);
			if (!open && this.words.quote != 0 && !this.words.beganWord) {
				this.afterApostrophe.begin((byte) 0, false);
			}
		}
	}

	/** Whether a quote that began a word is open. */
	boolean isInQuotes() {
		return this.words.quote != 0 && (this.words.beganWord || this.afterApostrophe.quote != 0);
	}

	/** The place in a line: in quotes, or not. */
	private static final class State {

		/** The quote that is open; 0 for none. */
		private byte quote;

		private boolean beganWord;

		private boolean afterBackslash;

		/** Whether the next byte may begin a word. */
		private boolean atStart;

		void begin(byte quote, boolean atStart) {
			this.quote = quote;
			this.beganWord = true;
			this.afterBackslash = false;
			this.atStart = atStart;
		}

		void read(byte b, boolean inWords) {
			if (this.quote == 0) {
				boolean opens = (b == '"' || b == '\'') && (this.atStart || inWords);
				this.quote = (opens) ? b : 0;
				this.beganWord = this.atStart;
				this.atStart = b == ' ' || (b >= '\t' && b <= '\r');
			}
			else if (this.afterBackslash) {
				this.afterBackslash = false;
			}
			else if (b == '\\') {
				this.afterBackslash = true;
			}
			else if (b == this.quote) {
				this.quote = 0;
			}
		}

	}

}
