package io.pipeset.record;

/** The rule that says which of a record's arguments are keys. */
abstract class Keys {

	/** The first argument. */
	static final Keys FIRST = new Keys("FIRST", 0, 1) {
		@Override
		int count(int arguments, long counted) {
			return 1;
		}
	};

	/** The first two arguments. */
	static final Keys FIRST_TWO = new Keys("FIRST_TWO", 0, 1) {
		@Override
		int count(int arguments, long counted) {
			return 2;
		}
	};

	/** All arguments. */
	static final Keys ALL = new Keys("ALL", 0, 1) {
		@Override
		int count(int arguments, long counted) {
			return arguments;
		}
	};

	/** As many arguments as the second one says, from the third on. */
	static final Keys COUNTED = new Keys("COUNTED", 2, 1) {
		@Override
		int count(int arguments, long counted) {
			return (int) Math.max(0, Math.min(counted, arguments - 2));
		}
	};

	/** As many as the first argument says, from the second on, a value after each. */
	static final Keys COUNTED_PAIRS = new Keys("COUNTED_PAIRS", 1, 2) {
		@Override
		int count(int arguments, long counted) {
			return (int) Math.max(0, Math.min(counted, (arguments - 1) / 2));
		}
	};

	/** The first argument, and from the third on as many as the second one says. */
	static final Keys FIRST_AND_COUNTED = new Keys("FIRST_AND_COUNTED", 0, 1) {

		@Override
		int counter() {
			return 1;
		}

		@Override
		int count(int arguments, long counted) {
			return (arguments == 0) ? 0 : 1 + (int) Math.max(0, Math.min(counted, arguments - 2));
		}

		@Override
		int position(int key) {
			return (key == 0) ? 0 : key + 1;
		}

		@Override
		boolean isKey(int position, int keys) {
			return position == 0 || (position > 1 && position <= keys);
		}

	};

	/** Every second argument, from the first on. */
	static final Keys PAIRS = new Keys("PAIRS", 0, 2) {
		@Override
		int count(int arguments, long counted) {
			return arguments / 2;
		}
	};

	/** Every third argument, from the first on. */
	static final Keys TRIPLES = new Keys("TRIPLES", 0, 3) {
		@Override
		int count(int arguments, long counted) {
			return arguments / 3;
		}
	};

	private final String name;

	private final int first;

	private final int step;

	private Keys(String name, int first, int step) {
		this.name = name;
		this.first = first;
		this.step = step;
	}

	/** The rule of an operation that a server describes. */
	static Keys described(Description description) {
		int last = description.lastKey();
		return new Keys("DESCRIBED", description.firstKey() - 1, description.keyStep()) {

			@Override
			int count(int arguments, long counted) {
				int end = (last >= 0) ? Math.min(last, arguments) : arguments + 1 + last;
				return (end <= first()) ? 0 : (end - 1 - first()) / step() + 1;
			}

		};
	}

	@Override
	public String toString() {
		return this.name;
	}

	/** The position of the argument that is the number of keys; -1 if there is none. */
	int counter() {
		return this.first - 1;
	}

	/** The position of a key, from 0. */
	int position(int key) {
		return this.first + key * this.step;
	}

	/**
	 * Whether an argument is a key.
	 * @param keys how many keys there are
	 */
	boolean isKey(int position, int keys) {
		int distance = position - this.first;
		return distance >= 0 && distance % this.step == 0 && distance / this.step < keys;
	}

	/** The position of the first key, from 0. */
	int first() {
		return this.first;
	}

	/** The distance from one key to the next, if all are as far apart. */
	int step() {
		return this.step;
	}

	/**
	 * The number of keys.
	 * @param counted the argument that is their number, if there is one
	 */
	abstract int count(int arguments, long counted);

}
