package io.pipeset.record;

/** Which of a record's arguments are keys. */
enum Keys {

	/** The first. */
	FIRST(0) {
		@Override
		int count(Record record) {
			return 1;
		}
	},

	/** All of them. */
	ALL(0) {
		@Override
		int count(Record record) {
			return record.argumentCount();
		}
	},

	/** As many as the second says, from the third on. */
	COUNTED(2) {
		@Override
		int count(Record record) {
			return (record.argumentCount() < 2) ? 0
					: (int) Math.max(0, Math.min(record.number(1), record.argumentCount() - 2));
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

	/** How many a record has. */
	abstract int count(Record record);

}
