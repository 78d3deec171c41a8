package io.pipeset.record;

import org.jspecify.annotations.Nullable;

/**
 * The number of arguments that may follow an operation's name.
 *
 * @param pairs whether the arguments come in pairs, from the first one or from the one
 * after the key
 */
record Arity(int least, int most, boolean pairs) {

	static Arity of(int count) {
		return new Arity(count, count, false);
	}

	static Arity atLeast(int least) {
		return new Arity(least, Integer.MAX_VALUE, false);
	}

	static Arity between(int least, int most) {
		return new Arity(least, most, false);
	}

	/**
	 * The number that a server describes.
	 * @param arity the words of the command with its name; if negative, the least number
	 */
	static Arity described(int arity) {
		return (arity >= 0) ? of(arity - 1) : atLeast(-arity - 1);
	}

	static Arity pairsAfterKey() {
		return new Arity(3, Integer.MAX_VALUE, true);
	}

	/** Pairs of a key and another argument. */
	static Arity pairsOfKeys() {
		return new Arity(2, Integer.MAX_VALUE, true);
	}

	/**
	 * Checks the number of a record's arguments.
	 * @return the problem, for the caller to read, or {@code null}
	 */
	@Nullable String check(Operation operation, int count) {
		if (count >= this.least && count <= this.most && (!this.pairs || (count - this.least) % 2 == 0)) {
			return null;
		}
		String plural = (this.least == 1) ? " argument" : " arguments";
		String expected = (this.pairs)
				? this.least + " arguments or more, in pairs" + ((this.least == 2) ? "" : " after the key")
				: (this.most == Integer.MAX_VALUE) ? this.least + plural + " or more" : (this.most == this.least)
						? this.least + plural : this.least + " to " + this.most + " arguments";
		return operation + " takes " + expected + ", not " + count;
	}

}
