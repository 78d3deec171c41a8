package io.pipeset.record.csv;

import java.util.Arrays;

import io.pipeset.record.Expiry;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.Remedies;
import io.pipeset.record.room.Room;
import org.jspecify.annotations.Nullable;

/** The meaning that the header gives to the cells of a row. */
abstract sealed class CsvColumns {

	/** The place of a column that is not in the header. */
	static final int NONE = -1;

	private final int size;

	private final int key;

	private CsvColumns(int size, int key) {
		this.size = size;
		this.key = key;
	}

	/** Fills the record that has just begun with a row, or refuses it. */
	void fill(Record record, CsvCells cells) {
		String unknown = findOperation(record, cells);
		if (cells.has(this.key)) {
			cells.addTo(record, this.key);
		}
		String problem = check(cells);
		if (problem == null && unknown != null) {
			record.reject(Rejection.UNKNOWN_OPERATION, unknown);
			return;
		}
		if (problem == null) {
			problem = addArguments(record, cells);
		}
		if (problem == null) {
			record.check();
		}
		else {
			record.reject(Rejection.MALFORMED, problem);
		}
	}

	/** The largest number of cells that a row may have. */
	int size() {
		return this.size;
	}

	/** The largest number of arguments that a row's record may have. */
	int mostArguments() {
		return this.size;
	}

	/** The memory that the columns take until the last row. */
	long bytes() {
		return 0;
	}

	/** The smallest number of cells that a row has to have. */
	int required() {
		return this.size;
	}

	/** Sets the row's operation, or returns a message if the table does not have it. */
	abstract @Nullable String findOperation(Record record, CsvCells cells);

	/** Adds the arguments after the key, or returns a message about the problem. */
	abstract @Nullable String addArguments(Record record, CsvCells cells);

	private @Nullable String check(CsvCells cells) {
		if (cells.fault() != null) {
			return cells.fault();
		}
		if (cells.count() > this.size || cells.count() < required()) {
			return "the header has " + this.size + ((this.size == 1) ? " column" : " columns") + ", and the row "
					+ cells.count() + ((cells.count() == 1) ? " cell" : " cells");
		}
		return (cells.has(this.key)) ? null : absent("key");
	}

	private static String absent(String column) {
		return "column '" + column + "' is empty; write \"\" for the empty string";
	}

	/** A value and perhaps a time to live. */
	static final class Value extends CsvColumns {

		private final int value;

		private final int ttl;

		Value(int size, int key, int value, int ttl) {
			super(size, key);
			this.value = value;
			this.ttl = ttl;
		}

		@Override
		@Nullable String findOperation(Record record, CsvCells cells) {
			record.operation(Operation.SET);
			return null;
		}

		@Override
		@Nullable String addArguments(Record record, CsvCells cells) {
			if (!cells.has(this.value)) {
				return absent("value");
			}
			cells.addTo(record, this.value);
			boolean valid = this.ttl == NONE || !cells.has(this.ttl) || cells.setTtlOf(record, this.ttl);
			return (valid) ? null : "column 'ttl' takes " + Expiry.ALLOWED + ", not '" + cells.excerpt(this.ttl) + "'";
		}

	}

	/** A field in each column but the key's. */
	static final class Fields extends CsvColumns {

		/** The size of an array's header and of the reference to it. */
		private static final int ARRAY_BYTES = 24;

		private final byte[][] names;

		private final int key;

		Fields(int key, byte[][] names) {
			super(names.length, key);
			this.key = key;
			this.names = names;
		}

		@Override
		int mostArguments() {
			return 2 * this.names.length - 1;
		}

		@Override
		long bytes() {
			return Arrays.stream(this.names).mapToLong((name) -> Room.ofArray(ARRAY_BYTES + name.length)).sum();
		}

		@Override
		@Nullable String findOperation(Record record, CsvCells cells) {
			record.operation(Operation.HSET);
			return null;
		}

		@Override
		@Nullable String addArguments(Record record, CsvCells cells) {
			boolean empty = true;
			for (int i = 0; i < this.names.length; i++) {
				if (i != this.key && cells.has(i)) {
					empty = false;
					record.string(this.names[i], 0, this.names[i].length);
					cells.addTo(record, i);
				}
			}
			return (empty) ? "the row has no field: all columns but 'key' are empty" : null;
		}

	}

	/** The arguments in their order, and perhaps the operation's name. */
	static final class Arguments extends CsvColumns {

		private final int operation;

		private final @Nullable Operation defaultOperation;

		private final int[] arguments;

		private final int required;

		Arguments(int size, int key, int operation, @Nullable Operation defaultOperation, int[] arguments) {
			super(size, key);
			this.operation = operation;
			this.defaultOperation = defaultOperation;
			this.arguments = arguments;
			this.required = Math.max(key, operation) + 1;
		}

		@Override
		int mostArguments() {
			return 1 + this.arguments.length;
		}

		@Override
		int required() {
			return this.required;
		}

		@Override
		@Nullable String findOperation(Record record, CsvCells cells) {
			Operation found = this.defaultOperation;
			if (this.operation != NONE && cells.has(this.operation)) {
				found = cells.operation(this.operation);
				if (found == null) {
					return Remedies.unknownOperation(cells.excerpt(this.operation));
				}
			}
			if (found != null) {
				record.operation(found);
			}
			return null;
		}

		@Override
		@Nullable String addArguments(Record record, CsvCells cells) {
			if (!record.hasOperation()) {
				return "column 'op' is empty, and the request names no operation";
			}
			int last = this.arguments.length;
			while (last > 0 && !cells.has(this.arguments[last - 1])) {
				last--;
			}
			for (int i = 0; i < last; i++) {
				if (!cells.has(this.arguments[i])) {
					return absent("arg" + (i + 1)) + ", as 'arg" + last + "' is not";
				}
				cells.addTo(record, this.arguments[i]);
			}
			return null;
		}

	}

}
