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
 * Splits a row into its cells, and decodes them in place, because a decoded cell is never
 * longer than the written one.
 */
final class CsvCells {

	private static final int ABSENT = -1;

	private static final PlainBytes PLAIN_IN_QUOTES = PlainBytes.asciiExcept("\"");

	private final Spans cells;

	private final char delimiter;

	private final boolean quotes;

	private final PlainBytes plain;

	private final boolean emptyStrings;

	private byte[] bytes = {};

	private int from;

	private int cellEnd;

	private int maxCells;

	private int count;

	private @Nullable String fault;

	private boolean hasBackslashQuote;

	/**
	 * Creates an object without cells.
	 * @param emptyStrings whether an empty cell is the empty string; otherwise it has no
	 * value
	 */
	CsvCells(CsvSyntax syntax, boolean emptyStrings, MemoryReservation memory) {
		this.cells = new Spans(memory);
		this.delimiter = syntax.delimiter();
		this.quotes = syntax.quotes();
		this.plain = PlainBytes.asciiExcept(((this.quotes) ? "\"" : "") + this.delimiter + "\r");
		this.emptyStrings = emptyStrings;
	}

	/**
	 * Reads a row, up to its end or to the first byte that is not CSV.
	 * @param maxCells the largest number of cells to keep; further cells are only counted
	 */
	void split(byte[] bytes, int from, int to, int maxCells) {
		this.bytes = bytes;
		this.maxCells = maxCells;
		this.count = 0;
		this.from = from;
		this.fault = null;
		this.hasBackslashQuote = false;
		this.cells.clear();
		int at = readCell(from, to);
		while (this.fault == null && at < to) {
			if (bytes[at] != this.delimiter) {
				this.hasBackslashQuote = at - 2 >= from && bytes[at - 1] == '"' && bytes[at - 2] == '\\';
				fail(at, "expected " + Excerpt.ofByte((byte) this.delimiter)
						+ " or the end of the row after a quoted cell, found " + Excerpt.ofByte(bytes[at]));
				return;
			}
			at = readCell(at + 1, to);
		}
	}

	/** The reason why the row is not CSV; {@code null} for a valid row. */
	@Nullable String fault() {
		return this.fault;
	}

	/**
	 * Whether the fault follows a quote after a backslash. Then the writer escapes quotes
	 * with backslashes, and the quote was meant to be part of the cell.
	 */
	boolean hasBackslashQuote() {
		return this.hasBackslashQuote;
	}

	/** The number of cells up to a fault, including cells that are not kept. */
	int count() {
		return this.count;
	}

	/** Whether a cell exists, and is not empty without quotes. */
	boolean has(int column) {
		return column < this.cells.count() && this.cells.length(column) != ABSENT;
	}

	/** Whether a cell has a value, which may be the empty string. */
	boolean hasValue(int column) {
		return has(column) || (this.emptyStrings && column < this.count);
	}

	/** The advice for a required cell without a value. */
	String emptyAdvice() {
		return (this.quotes) ? "; write \"\" for the empty string"
				: "; a cell without quotes cannot be the empty string, unless nulls=empty says so";
	}

	/** The array that holds the cells. */
	byte[] bytes() {
		return this.bytes;
	}

	/** The index of an existing cell's first byte. */
	int offset(int column) {
		return this.cells.offset(column);
	}

	/** The length of an existing cell, in bytes. */
	int length(int column) {
		return this.cells.length(column);
	}

	/** A cell, shortened for a message. */
	String excerpt(int column) {
		return (has(column)) ? Excerpt.of(this.bytes, this.cells.offset(column), this.cells.length(column)) : "";
	}

	/** A cell as text; empty if it does not exist. */
	String text(int column) {
		return (has(column))
				? new String(this.bytes, this.cells.offset(column), this.cells.length(column), StandardCharsets.UTF_8)
				: "";
	}

	/** The operation that a cell names; {@code null} if it is not supported. */
	@Nullable Operation operation(int column) {
		return Operation.find(this.bytes, this.cells.offset(column), this.cells.length(column));
	}

	/**
	 * Sets a record's time to live from a cell. Returns {@code false} if the cell is not
	 * one.
	 */
	boolean setTtlOf(Record record, int column) {
		return record.ttl(this.bytes, this.cells.offset(column), this.cells.length(column));
	}

	/**
	 * Sets a record's moment of expiry from a cell. Returns {@code false} if the cell is
	 * not one.
	 */
	boolean setExpireAtOf(Record record, int column) {
		return record.expireAt(this.bytes, this.cells.offset(column), this.cells.length(column));
	}

	/** Adds a cell with a value to a record's arguments. */
	void addTo(Record record, int column) {
		record.string(this.bytes, this.cells.offset(column), Math.max(this.cells.length(column), 0));
	}

	/** Reads a cell, and returns the index after it. */
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
		if (this.fault == null && this.count++ < this.maxCells) {
			this.cells.add(offset, length);
		}
	}

	private void fail(int at, String message) {
		this.fault = message + " (byte " + (at - this.from) + " of the record)";
	}

}
