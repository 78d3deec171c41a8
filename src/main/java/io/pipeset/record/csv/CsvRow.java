package io.pipeset.record.csv;

import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.State;
import io.pipeset.record.mapping.TableRow;
import io.pipeset.record.mapping.Templates;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/** The cells of a row of CSV, of which templates make records. */
final class CsvRow extends TableRow {

	/** The size of an array's header and of the reference to it, in bytes. */
	private static final int ARRAY_BYTES = 24;

	private final CsvCells cells;

	private final long bytes;

	/** Why the cells can only be refused; {@code null} if they are a row. */
	private @Nullable Rejection fault;

	private final int maxArguments;

	/**
	 * Finds the names of templates in a header.
	 * @param templates the templates, whose names are in the header once
	 * @param nulls the meaning of a cell that is null
	 */
	CsvRow(Templates templates, Nulls nulls, CsvHeader header, CsvCells cells, RecordLimit limit) {
		super(templates, nulls, header.names(), header::place, false, (nulls == Nulls.EMPTY) ? "\"\"" : "", limit);
		this.cells = cells;
		this.bytes = names().mapToLong((name) -> MemoryReservation.ofArray(ARRAY_BYTES + name.length)).sum()
				* ((templates.needWhole()) ? 2 : 1);
		this.maxArguments = templates.maxArguments(header.names().size());
	}

	/** The number of cells to look at. */
	int maxKeptCells() {
		return needed();
	}

	/** The largest number of arguments that a row's record may have. */
	int maxArguments() {
		return this.maxArguments;
	}

	/** Takes the row whose cells were split last. */
	void read(@Nullable Rejection fault) {
		begin();
		this.fault = fault;
		if (fault != null) {
			setUnreadable();
		}
		else {
			readCells();
		}
	}

	/** The memory that names of columns need until the last row, in bytes. */
	long bytes() {
		return this.bytes;
	}

	/** Makes the next record of the row, good or refused. */
	void deliver(Record record) {
		fill(record, this.fault);
	}

	@Override
	protected State cell(int column) {
		return (this.cells.has(column)) ? State.TEXT : State.NULL;
	}

	@Override
	protected byte[] cellSource(int column) {
		return this.cells.bytes();
	}

	@Override
	protected int cellOffset(int column) {
		return this.cells.offset(column);
	}

	@Override
	protected int cellLength(int column) {
		return this.cells.length(column);
	}

	@Override
	protected String emptiness() {
		return "empty";
	}

}
