package io.pipeset.record.csv;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import io.pipeset.record.Expiry;
import io.pipeset.record.Notice;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.Timestamps;
import io.pipeset.record.body.FormatHints;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/** Builds records from rows, by the columns of the header. */
abstract sealed class CsvColumns {

	/** The index of a column that is not in the header. */
	static final int NONE = -1;

	/** The size of an array's header and of the reference to it, in bytes. */
	private static final int ARRAY_BYTES = 24;

	private final int size;

	private CsvColumns(int size) {
		this.size = size;
	}

	/** Fills the record, which has just begun, from a row, or refuses it. */
	abstract void fill(Record record, CsvCells cells);

	/** Why the row that was split last can only be refused, whatever its cells are. */
	private @Nullable String refusal;

	/**
	 * Takes the row that was split last.
	 * @param refusal why it can only be refused; {@code null} for a good one
	 * @return {@code false} if it makes no record
	 */
	boolean begin(CsvCells cells, @Nullable String refusal) {
		this.refusal = refusal;
		return true;
	}

	/** How many commands all rows so far have left out. */
	long leftOut() {
		return 0;
	}

	/** What the rows so far give reason to say to the caller. */
	List<Notice> notices() {
		return List.of();
	}

	/** Whether the row that was read last makes another record. */
	boolean hasNext() {
		return false;
	}

	/** Counts a row that is too large to be read. */
	void skip() {
	}

	/** The number of cells of a row to keep; further cells are only counted. */
	int maxKeptCells() {
		return this.size;
	}

	/** The largest number of arguments that a row's record may have. */
	int maxArguments() {
		return this.size;
	}

	/** The memory that the columns need until the last row, in bytes. */
	long bytes() {
		return 0;
	}

	/** The smallest number of cells in a row. */
	int minCells() {
		return this.size;
	}

	/** The reason why the cells do not fit this header, or {@code null}. */
	final @Nullable String check(CsvCells cells) {
		if (cells.fault() != null || this.refusal != null) {
			return (cells.fault() != null) ? cells.fault() : this.refusal;
		}
		if (cells.count() > this.size || cells.count() < minCells()) {
			return "the header has " + this.size + ((this.size == 1) ? " column" : " columns") + ", and the row "
					+ cells.count() + ((cells.count() == 1) ? " cell" : " cells");
		}
		return null;
	}

	/** The memory that column names need, in bytes. */
	private static long bytesOf(Stream<byte[]> names) {
		return names.mapToLong((name) -> MemoryReservation.ofArray(ARRAY_BYTES + name.length)).sum();
	}

	/** Columns whose names have a fixed meaning, such as {@code key}. */
	private abstract static sealed class Named extends CsvColumns {

		private final int key;

		private Named(int size, int key) {
			super(size);
			this.key = key;
		}

		@Override
		final void fill(Record record, CsvCells cells) {
			String unknown = findOperation(record, cells);
			if (cells.has(this.key)) {
				cells.addTo(record, this.key);
			}
			String problem = check(cells);
			if (problem == null && !cells.has(this.key)) {
				problem = "column 'key' is empty" + cells.emptyAdvice();
			}
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

		/** Sets the row's operation, or returns a message if it is not supported. */
		abstract @Nullable String findOperation(Record record, CsvCells cells);

		/**
		 * Adds the arguments after the key, or returns a message about the problem.
		 */
		abstract @Nullable String addArguments(Record record, CsvCells cells);

	}

	/** Columns whose values are used by templates. */
	static final class Mapped extends CsvColumns {

		private final CsvRow row;

		Mapped(int size, CsvRow row) {
			super(size);
			this.row = row;
		}

		@Override
		void fill(Record record, CsvCells cells) {
			this.row.deliver(record);
		}

		@Override
		boolean begin(CsvCells cells, @Nullable String refusal) {
			super.begin(cells, refusal);
			String problem = check(cells);
			this.row.read((problem != null) ? new Rejection(Rejection.MALFORMED, problem) : null);
			return this.row.hasNext();
		}

		@Override
		boolean hasNext() {
			return this.row.hasNext();
		}

		@Override
		long leftOut() {
			return this.row.allLeftOut();
		}

		@Override
		List<Notice> notices() {
			return this.row.notices();
		}

		@Override
		void skip() {
			this.row.skip();
		}

		@Override
		int maxKeptCells() {
			return this.row.maxKeptCells();
		}

		@Override
		int maxArguments() {
			return this.row.maxArguments();
		}

		@Override
		long bytes() {
			return this.row.bytes();
		}

	}

	/** Columns of SET: a value, and optionally an expiry. */
	static final class Value extends Named {

		private final int value;

		private final int ttl;

		private final int expireAt;

		private final boolean deletes;

		Value(int size, int key, int value, int ttl, int expireAt, boolean deletes) {
			super(size, key);
			this.value = value;
			this.ttl = ttl;
			this.expireAt = expireAt;
			this.deletes = deletes;
		}

		@Override
		@Nullable String findOperation(Record record, CsvCells cells) {
			record.operation(Operation.SET);
			return null;
		}

		@Override
		@Nullable String addArguments(Record record, CsvCells cells) {
			if (this.deletes && !cells.has(this.value)) {
				record.operation(Operation.DEL);
				return null;
			}
			if (!cells.hasValue(this.value)) {
				return "column 'value' is empty" + cells.emptyAdvice();
			}
			cells.addTo(record, this.value);
			boolean expires = this.ttl != NONE && cells.has(this.ttl);
			if (expires && !cells.setTtlOf(record, this.ttl)) {
				return "column 'ttl' takes " + Expiry.ALLOWED + ", not '" + cells.excerpt(this.ttl) + "'";
			}
			if (this.expireAt == NONE || !cells.has(this.expireAt)) {
				return null;
			}
			if (expires) {
				return "columns 'ttl' and 'expireAt' are two expiries: a row takes one of them";
			}
			return (cells.setExpireAtOf(record, this.expireAt)) ? null
					: "column 'expireAt' takes " + Timestamps.ALLOWED + ", not '" + cells.excerpt(this.expireAt) + "'";
		}

	}

	/** Columns of HSET: each column except the key is a field. */
	static final class Fields extends Named {

		private final byte[][] names;

		private final int key;

		Fields(int key, byte[][] names) {
			super(names.length, key);
			this.key = key;
			this.names = names;
		}

		@Override
		int maxArguments() {
			return 2 * this.names.length - 1;
		}

		@Override
		long bytes() {
			return bytesOf(Arrays.stream(this.names));
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
				if (i != this.key && cells.hasValue(i)) {
					empty = false;
					record.string(this.names[i], 0, this.names[i].length);
					cells.addTo(record, i);
				}
			}
			return (empty) ? "the row has no field: all columns but 'key' are empty" : null;
		}

	}

	/** Columns for the arguments in order, and optionally for the operation. */
	static final class Arguments extends Named {

		private final int operation;

		private final @Nullable Operation defaultOperation;

		private final int[] arguments;

		private final int minCells;

		Arguments(int size, int key, int operation, @Nullable Operation defaultOperation, int[] arguments) {
			super(size, key);
			this.operation = operation;
			this.defaultOperation = defaultOperation;
			this.arguments = arguments;
			this.minCells = Math.max(key, operation) + 1;
		}

		@Override
		int maxArguments() {
			return 1 + this.arguments.length;
		}

		@Override
		int minCells() {
			return this.minCells;
		}

		@Override
		@Nullable String findOperation(Record record, CsvCells cells) {
			Operation found = this.defaultOperation;
			if (this.operation != NONE && cells.has(this.operation)) {
				found = cells.operation(this.operation);
				if (found == null) {
					FormatHints.rejectAfterDatabaseChange(record, cells.excerpt(this.operation));
					return cells.unknownOperation(this.operation);
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
			while (last > 0 && !cells.hasValue(this.arguments[last - 1])) {
				last--;
			}
			for (int i = 0; i < last; i++) {
				if (!cells.hasValue(this.arguments[i])) {
					return "column 'arg" + (i + 1) + "' is empty, and 'arg" + last + "' is not" + cells.emptyAdvice();
				}
				cells.addTo(record, this.arguments[i]);
			}
			return null;
		}

	}

}
