package io.pipeset.record.csv;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.pipeset.record.Operation;
import io.pipeset.record.OperationFinder;
import io.pipeset.record.Record;
import io.pipeset.record.body.FormatHints;
import io.pipeset.record.body.PlainBytes;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.body.Spans;
import io.pipeset.record.body.Utf8;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.mapping.CellSyntax;
import org.jspecify.annotations.Nullable;

/**
 * Splits a row into its cells, and decodes them in place, because a decoded cell is never
 * longer than the written one.
 */
final class CsvCells {

	private static final int ABSENT = -1;

	private static final byte[] BYTE_ORDER_MARK = { (byte) 0xEF, (byte) 0xBB, (byte) 0xBF };

	private static final PlainBytes PLAIN_IN_QUOTES = PlainBytes.asciiExcept("\"");

	private final Spans cells;

	private final char delimiter;

	private final boolean quotes;

	private final PlainBytes plain;

	private final boolean emptyStrings;

	private final OperationFinder operations;

	/** Whether a backslash escapes in every cell. */
	private final boolean backslash;

	/** Whether it escapes quotes and itself within quotes. */
	private final boolean quoteEscapes;

	/** The texts of cells without quotes that are null. */
	private final byte[][] nulls;

	private final boolean emptyIsNull;

	private final boolean emptyQuoteIsNull;

	private final boolean trim;

	private byte[] bytes = {};

	private int from;

	private int cellEnd;

	private int maxCells;

	private int count;

	private @Nullable String fault;

	private boolean hasBackslashQuote;

	/** The cells of all rows so far that begin and end with a quote, which is data. */
	private long quotedCells;

	/** The byte after the last one that an escape stands for: it is not trimmed. */
	private int escapedEnd = -1;

	/**
	 * Creates an object without cells.
	 * @param emptyStrings whether an empty cell is the empty string; otherwise it has no
	 * value
	 */
	CsvCells(CsvSyntax syntax, boolean emptyStrings, RecordLimit limit) {
		this.cells = new Spans(limit.memory());
		this.operations = limit.operations();
		this.delimiter = syntax.delimiter();
		this.quotes = syntax.quotes();
		this.plain = PlainBytes.asciiExcept(((this.quotes) ? "\"" : "") + this.delimiter + "\r");
		this.emptyStrings = emptyStrings;
		this.backslash = syntax.escapesAll();
		this.quoteEscapes = syntax.escapesQuotes();
		this.nulls = syntax.cells()
			.nulls()
			.stream()
			.filter((text) -> !text.isEmpty() && !(this.quotes && text.equals(CellSyntax.QUOTES)))
			.map((text) -> text.getBytes(StandardCharsets.UTF_8))
			.toArray(byte[][]::new);
		this.emptyIsNull = syntax.cells().isEmptyNull();
		this.emptyQuoteIsNull = this.quotes && syntax.cells().isEmptyQuoteNull();
		this.trim = syntax.cells().trim();
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
				this.hasBackslashQuote = !this.backslash && !this.quoteEscapes && at - 2 >= from && bytes[at - 1] == '"'
						&& bytes[at - 2] == '\\';
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

	/** How many cells so far began and ended with a quote that is data. */
	long quotedCells() {
		return this.quotedCells;
	}

	/** The number of cells that are kept. */
	int kept() {
		return this.cells.count();
	}

	/**
	 * Whether a cell is a text, but for case, blanks around it and a byte order mark.
	 * @param text the text in lower case, without blanks around it
	 */
	boolean isLike(int column, byte[] text) {
		int length = this.cells.length(column);
		int from = this.cells.offset(column);
		int to = from + Math.max(length, 0);
		if (to - from >= BYTE_ORDER_MARK.length && this.bytes[from] == BYTE_ORDER_MARK[0] && Arrays.equals(this.bytes,
				from, from + BYTE_ORDER_MARK.length, BYTE_ORDER_MARK, 0, BYTE_ORDER_MARK.length)) {
			from += BYTE_ORDER_MARK.length;
		}
		while (from < to && this.bytes[from] == ' ') {
			from++;
		}
		while (to > from && this.bytes[to - 1] == ' ') {
			to--;
		}
		boolean same = to - from == text.length;
		for (int i = 0; same && i < text.length; i++) {
			byte b = this.bytes[from + i];
			same = ((b >= 'A' && b <= 'Z') ? b + ('a' - 'A') : b) == text[i];
		}
		return same;
	}

	/** The first byte of a cell that is kept, from 0 to 255; 0 for an empty one. */
	int firstByte(int column) {
		return (this.cells.length(column) > 0) ? this.bytes[this.cells.offset(column)] & 0xFF : 0;
	}

	/** Whether each cell that is kept is a line of dashes. */
	boolean areDashes() {
		boolean dashes = kept() > 0;
		for (int i = 0; dashes && i < kept(); i++) {
			dashes = this.cells.length(i) > 1;
			for (int at = 0; dashes && at < this.cells.length(i); at++) {
				dashes = this.bytes[this.cells.offset(i) + at] == '-';
			}
		}
		return dashes;
	}

	/** Whether a cell exists, and is not null. */
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

	/** The message for a cell that names no supported operation. */
	String unknownOperation(int column) {
		return FormatHints.unknownOperation(excerpt(column), this.operations);
	}

	/** A cell as text; empty if it does not exist. */
	String text(int column) {
		return (has(column))
				? new String(this.bytes, this.cells.offset(column), this.cells.length(column), StandardCharsets.UTF_8)
				: "";
	}

	/** The operation that a cell names; {@code null} if it is not supported. */
	@Nullable Operation operation(int column) {
		return this.operations.find(this.bytes, this.cells.offset(column), this.cells.length(column));
	}

	/**
	 * Sets a record's time to live from a cell. Returns {@code false} if the cell is not
	 * one.
	 */
	boolean setTtlOf(Record record, int column) {
		return record.ttl(this.bytes, this.cells.offset(column), this.cells.length(column));
	}

	/**
	 * Sets a record's time of expiry from a cell. Returns {@code false} if the cell is
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
		int from = (this.trim) ? skipBlanks(start, to) : start;
		if (this.quotes && from < to && this.bytes[from] == '"') {
			int end = (this.backslash || this.quoteEscapes) ? readEscapes(from + 1, to, true)
					: readQuotes(from + 1, to);
			int length = this.cellEnd - (from + 1);
			add(from + 1, (length == 0 && this.emptyQuoteIsNull) ? ABSENT : length);
			return (this.trim && this.fault == null) ? skipBlanks(end, to) : end;
		}
		for (byte[] text : this.nulls) {
			int afterNull = afterNull(text, from, to);
			if (afterNull >= 0) {
				add(from, ABSENT);
				return afterNull;
			}
		}
		int end = (this.backslash) ? readEscapes(from, to, false) : skipPlain(this.plain, from, to);
		if (this.fault == null && end < to && this.bytes[end] != this.delimiter) {
			fail(end, (this.quotes) ? "a cell with " + ((this.bytes[end] == '"') ? "a quote" : "a carriage return")
					+ " stands in quotes, in which \"\" is a quote" : "a cell has no carriage return");
		}
		int last = (this.backslash) ? this.cellEnd : end;
		while (this.trim && last > from && isBlank(this.bytes[last - 1]) && last != this.escapedEnd) {
			last--;
		}
		if (!this.quotes && last - from > 1 && this.bytes[from] == '"' && this.bytes[last - 1] == '"') {
			this.quotedCells++;
		}
		add(from, (last > from || !this.emptyIsNull) ? last - from : ABSENT);
		return end;
	}

	/** The byte after a cell that is a text of null, or -1 for any other cell. */
	private int afterNull(byte[] text, int from, int to) {
		if (to - from < text.length || !Arrays.equals(this.bytes, from, from + text.length, text, 0, text.length)) {
			return -1;
		}
		int end = from + text.length;
		end = (this.trim) ? skipBlanks(end, to) : end;
		return (end == to || this.bytes[end] == this.delimiter) ? end : -1;
	}

	private int skipBlanks(int from, int to) {
		int at = from;
		while (at < to && isBlank(this.bytes[at])) {
			at++;
		}
		return at;
	}

	private boolean isBlank(byte b) {
		return (b == ' ' || b == '\t') && b != this.delimiter;
	}

	/**
	 * Reads a cell with escapes, and decodes it in place.
	 * @return the byte after it: its delimiter, or for a quoted one the byte after its
	 * closing quote
	 */
	private int readEscapes(int start, int to, boolean quoted) {
		int at = start;
		this.cellEnd = start;
		this.escapedEnd = -1;
		while (at < to && this.fault == null) {
			byte b = this.bytes[at];
			boolean doubled = quoted && b == '"' && at + 1 < to && this.bytes[at + 1] == '"';
			if (doubled && this.quoteEscapes) {
				fail(at, "\"\" within quotes is a quote of another kind of file, whose quotes are doubled: leave"
						+ " escape=quotes out");
			}
			else if (doubled || (b == '\\' && isEscape(at, to))) {
				this.bytes[this.cellEnd++] = unescape(at, to);
				this.escapedEnd = this.cellEnd;
				at += 2;
			}
			else if ((quoted) ? b == '"' : b == this.delimiter || (b == '"' && this.quotes)) {
				return (quoted) ? at + 1 : at;
			}
			else {
				int length = (b < 0) ? Utf8.characterLength(this.bytes, at, to) : 1;
				if (length == 0) {
					fail(at, "a cell is not UTF-8: found " + Excerpt.ofByte(b));
					return at;
				}
				System.arraycopy(this.bytes, at, this.bytes, this.cellEnd, length);
				this.cellEnd += length;
				at += length;
			}
		}
		if (quoted && this.fault == null) {
			fail(start - 1, "a quoted cell is not closed before the end of the body");
		}
		return at;
	}

	/** Whether a backslash gives the byte after it another meaning. */
	private boolean isEscape(int at, int to) {
		return this.backslash || (at + 1 < to && (this.bytes[at + 1] == '"' || this.bytes[at + 1] == '\\'));
	}

	private byte unescape(int at, int to) {
		if (at + 1 == to) {
			fail(at, "a backslash stands at the end of the row");
			return '\\';
		}
		byte letter = this.bytes[at + 1];
		return (byte) switch (letter) {
			case 't' -> '\t';
			case 'n' -> '\n';
			case 'r' -> '\r';
			case '0' -> 0;
			case 'b' -> '\b';
			case 'f' -> '\f';
			case 'v' -> 0x0B;
			case 'Z' -> 0x1A;
			case '\\', '"', '\'', '\n', '\r' -> letter;
			default -> {
				if (letter != this.delimiter) {
					fail(at, "a backslash takes t, n, r, 0, b, f, v, Z, a backslash, a quote or the delimiter after it,"
							+ " not " + Excerpt.ofByte(letter)
							+ ((letter == 'N') ? "; null=%5CN says that \\N alone is" + " null"
									: (letter == 'x') ? "; redis-cli --json writes such bytes as text"
											: "; in files of Spark and DuckDB, escape=quotes has backslashes that are"
													+ " data"));
				}
				yield letter;
			}
		};
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
