package io.pipeset.record;

/** The rule that says which of a record's arguments are keys. */
enum Keys {

	/** The first argument. */
	FIRST(0) {
		@Override
		int count(int arguments, long counted) {
			return 1;
		}
	},

	/** All arguments. */
	ALL(0) {
		@Override
		int count(int arguments, long counted) {
			return arguments;
		}
	},

	/** As many arguments as the second one says, from the third on. */
	COUNTED(2) {
		@Override
		int count(int arguments, long counted) {
			return (int) Math.max(0, Math.min(counted, arguments - 2));
		}
	};

	private final int first;

	Keys(int first) {
		this.first = first;
	}

	/** The position of the first key, from 0. */
	int first() {
		return this.first;
	}

	/**
	 * The number of keys.
	 * @param counted the argument before the first key, if any
	 */
	abstract int count(int arguments, long counted);

}
