package io.pipeset.record;

/** Defines which of a record's arguments are keys. */
enum Keys {

	/** The first argument. */
	FIRST(0, 1) {
		@Override
		int count(int arguments, long counted) {
			return 1;
		}
	},

	/** The first two arguments. */
	FIRST_TWO(0, 1) {
		@Override
		int count(int arguments, long counted) {
			return 2;
		}
	},

	/** All arguments. */
	ALL(0, 1) {
		@Override
		int count(int arguments, long counted) {
			return arguments;
		}
	},

	/** The second argument is the number of keys, which begin at the third one. */
	COUNTED(2, 1) {
		@Override
		int count(int arguments, long counted) {
			return (int) Math.max(0, Math.min(counted, arguments - 2));
		}
	},

	/**
	 * The first argument is the number of keys, which begin at the second one, each with
	 * its value after it.
	 */
	COUNTED_PAIRS(1, 2) {
		@Override
		int count(int arguments, long counted) {
			return (int) Math.max(0, Math.min(counted, (arguments - 1) / 2));
		}
	},

	/** Every second argument, from the first on. */
	PAIRS(0, 2) {
		@Override
		int count(int arguments, long counted) {
			return arguments / 2;
		}
	},

	/** Every third argument, from the first on. */
	TRIPLES(0, 3) {
		@Override
		int count(int arguments, long counted) {
			return arguments / 3;
		}
	};

	private final int first;

	private final int step;

	Keys(int first, int step) {
		this.first = first;
		this.step = step;
	}

	/** The position of the first key, from 0. */
	int first() {
		return this.first;
	}

	/** The distance from one key to the next. */
	int step() {
		return this.step;
	}

	/**
	 * The number of keys.
	 * @param counted the argument before the first key, if any
	 */
	abstract int count(int arguments, long counted);

}
