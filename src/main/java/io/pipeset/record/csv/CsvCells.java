package io.pipeset.record.csv;

import java.nio.charset.StandardCharsets;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.body.PlainBytes;
import io.pipeset.record.body.Spans;
import io.pipeset.record.body.Utf8;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * Splits a row into its cells and decodes them in place: a decoded cell is never longer
 * than a written one.
 */
final class CsvCells {

	private static final int ABSENT = -1;

	private static final PlainBytes PLAIN_IN_QUOTES = PlainBytes.asciiBut("\"");

	private final Spans cells;

	private final char delimiter;

	private final boolean quotes;

	private final PlainBytes plain;

	private final boolean emptyStrings;

	private byte[] bytes = {};

	private int from;

	private int cellEnd;

	private int most;

	private int count;

	private @Nullable String fault;

	private boolean escaped;

	/**
	 * Has no cells yet.
	 * @param emptyStrings whether an empty cell is the empty string, and not absent
	 */
	CsvCells(CsvSyntax syntax, boolean emptyStrings, MemoryReservation room) {
		this.cells = new Spans(room);
		this.delimiter = syntax.delimiter();
		this.quotes = syntax.quotes();
		this.plain = PlainBytes.asciiBut(((this.quotes) ? "\"" : "") + this.delimiter + "\r");
		this.emptyStrings = emptyStrings;
	}

	/**
	 * Reads a row, up to its end or to the first byte that is not CSV.
	 * @param most the number of cells to keep; more are only counted
	 */
	void split(byte[] bytes, int from, int to, int most) {
		this.bytes = bytes;
		this.most = most;
		this.count = 0;
		this.from = from;
		this.fault = null;
		this.escaped = false;
		this.cells.clear();
		int at = readCell(from, to);
		while (this.fault == null && at < to) {
			if (bytes[at] != this.delimiter) {
				this.escaped = at - 2 >= from && bytes[at - 1] == '"' && bytes[at - 2] == '\\';
				fail(at, "expected " + Excerpt.ofByte((byte) this.delimiter)
						+ " or the end of the row after a quoted cell, found " + Excerpt.ofByte(bytes[at]));
				return;
			}
			at = readCell(at + 1, to);
		}
	}

	/** The reason why the row is not CSV. */
	@Nullable String fault() {
		return this.fault;
	}

	/**
	 * Whether the fault stands behind a quote that follows a backslash: a writer that
	 * escapes quotes so has meant it to be part of the cell.
	 */
	boolean escaped() {
		return this.escaped;
	}

	/** The number of cells up to a fault, including those that are not kept. */
	int count() {
		return this.count;
	}

	/** Whether the row has a cell, which is neither missing nor empty without quotes. */
	boolean has(int column) {
		return column < this.cells.count() && this.cells.length(column) != ABSENT;
	}

	/** Whether the row has a cell, which may be an empty string. */
	boolean hasValue(int column) {
		return has(column) || (this.emptyStrings && column < this.count);
	}

	/** The advice for a cell that has no value and must have one. */
	String emptyRemedy() {
		return (this.quotes) ? "; write \"\" for the empty string"
				: "; a cell without quotes cannot be the empty string, unless nulls=empty says so";
	}

	/** The array that holds the cells. */
	byte[] bytes() {
		return this.bytes;
	}

	/** The first byte of a cell that is there. */
	int offset(int column) {
		return this.cells.offset(column);
	}

	/** The length of a cell that is there. */
	int length(int column) {
		return this.cells.length(column);
	}

	/** A cell as a message shows it. */
	String excerpt(int column) {
		return (has(column)) ? Excerpt.of(this.bytes, this.cells.offset(column), this.cells.length(column)) : "";
	}

	/** A cell as a name. */
	String text(int column) {
		return (has(column))
				? new String(this.bytes, this.cells.offset(column), this.cells.length(column), StandardCharsets.UTF_8)
				: "";
	}

	/** The operation that a cell names, or {@code null} if the table has none. */
	@Nullable Operation operation(int column) {
		return Operation.find(this.bytes, this.cells.offset(column), this.cells.length(column));
	}

	/** Makes a cell a record's time to live, or returns {@code false} if it is none. */
	boolean setTtlOf(Record record, int column) {
		return record.ttl(this.bytes, this.cells.offset(column), this.cells.length(column));
	}

	/** Makes a cell the moment of its expiry, or returns {@code false} if it is none. */
	boolean setMomentOf(Record record, int column) {
		return record.expireAt(this.bytes, this.cells.offset(column), this.cells.length(column));
	}

	/** Adds a cell that has a value to a record's arguments. */
	void addTo(Record record, int column) {
		record.string(this.bytes, this.cells.offset(column), Math.max(this.cells.length(column), 0));
	}

	/** Reads a cell and returns the byte after it. */
	private int readCell(int start, int to) {
		if (this.quotes && start < to && this.bytes[start] == '"') {
			int end = readQuotes(start + 1, to);
			add(start + 1, this.cellEnd - (start + 1));
			return end;
		}
		int end = skipPlain(this.plain, start, to);
		if (this.fault == null && end < to && this.bytes[end] != this.delimiter) {
			fail(end, (this.quotes) ? "a cell with " + ((this.bytes[end] == '"') ? "a quote" : "a carriage return")
					+ " stands in quotes, in which \"\" is a quote" : "a cell has no carriage return");
		}
		add(start, (end > start) ? end - start : ABSENT);
		return end;
	}

	private int readQuotes(int start, int to) {
		int at = start;
		this.cellEnd = start;
		while (true) {
			int end = skipPlain(PLAIN_IN_QUOTES, at, to);
			if (this.cellEnd != at) {
				System.arraycopy(this.bytes, at, this.bytes, this.cellEnd, end - at);
			}
			this.cellEnd += end - at;
			if (this.fault != null) {
				return end;
			}
			if (end == to) {
				fail(start - 1, "a quoted cell is not closed before the end of the body");
				return to;
			}
			if (end + 1 == to || this.bytes[end + 1] != '"') {
				return end + 1;
			}
			this.bytes[this.cellEnd++] = '"';
			at = end + 2;
		}
	}

	private int skipPlain(PlainBytes plain, int from, int to) {
		byte[] source = this.bytes;
		int at = from;
		while (true) {
			at = plain.skip(source, at, to);
			if (at == to || source[at] >= 0) {
				return at;
			}
			int length = Utf8.characterLength(source, at, to);
			if (length == 0) {
				fail(at, "a cell is not UTF-8: found " + Excerpt.ofByte(source[at]));
				return at;
			}
			at += length;
		}
	}

	private void add(int offset, int length) {
		if (this.fault == null && this.count++ < this.most) {
			this.cells.add(offset, length);
		}
	}

	private void fail(int at, String message) {
		this.fault = message + " (byte " + (at - this.from) + " of the record)";
	}

}
