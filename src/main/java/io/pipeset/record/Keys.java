package io.pipeset.record;

/** Which of a record's arguments are keys. */
enum Keys {

	/** The first. */
	FIRST(0) {
		@Override
		int count(int arguments, long counted) {
			return 1;
		}
	},

	/** All of them. */
	ALL(0) {
		@Override
		int count(int arguments, long counted) {
			return arguments;
		}
	},

	/** As many as the second says, from the third on. */
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

	/** The position of the first, from 0. */
	int first() {
		return this.first;
	}

	/**
	 * How many there are.
	 * @param arguments the number of arguments
	 * @param counted the argument before the first key, if any
	 */
	abstract int count(int arguments, long counted);

}
