package io.pipeset.record.csv;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.pipeset.record.Notice;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.RowItem;
import io.pipeset.record.body.BodyBuffer;
import io.pipeset.record.body.FormatHints;
import io.pipeset.record.body.LineScanner;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.mapping.Header;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.record.mapping.Names;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Templates;
import org.jspecify.annotations.Nullable;

/**
 * Reads records from the rows of a body, by
 * <a href="https://www.rfc-editor.org/rfc/rfc4180">RFC 4180</a>. Text in quotes is never
 * read as a row, because it may be a caller's data. So a missing quote may turn the rest
 * of the body into one large invalid record.
 */
public final class CsvReader implements RecordReader {

	private static final int OVERSIZED = -1;

	private static final String REPEATED_HEADER = "the row repeats the names of the columns: two files were put"
			+ " together, or the file has the header that 'header' names";

	private static final String DASHES = "the row is a line of dashes under the header, as sqlcmd and psql print it";

	private static final int MOST_BLANKS = 16;

	/** The memory of a column's name without its characters, in bytes. */
	private static final int NAME_BYTES = 160;

	private final BodyBuffer buffer;

	private final RecordLimit limit;

	private final @Nullable Operation defaultOperation;

	private final Mapping mapping;

	private CsvSyntax syntax;

	private CsvScanner scanner;

	private CsvCells cells;

	private @Nullable CsvColumns columns;

	private @Nullable MalformedBodyException lost;

	private long line = 1;

	/** The line of the row that was read last. */
	private long rowLine;

	private boolean inOversizedRow;

	/** The header row of the body; {@code null} if there is none, or it is too large. */
	private byte @Nullable [] header;

	/** The names of the columns; {@code null} before the first row. */
	private @Nullable CsvHeader names;

	/** Whether an empty line is a row of one empty cell. */
	private boolean emptyRows;

	/** Whether the first line ends with a line feed alone; known after the first line. */
	private boolean bareLineFeeds;

	private boolean firstLineEnded;

	/** How many rows end otherwise than the first line, and the first of them. */
	private long otherLineEnds;

	private long otherLine;

	/** The first row with cells in quotes that are data. */
	private long quotedLine;

	private boolean firstRow = true;

	/** Whether empty rows were passed over before this one. */
	private boolean afterEmptyRow;

	/**
	 * Reads a body.
	 * @param defaultOperation the operation of records that name none; {@code null} if
	 * each record must name its own
	 */
	public CsvReader(InputStream body, CsvSyntax syntax, @Nullable Operation defaultOperation, Mapping mapping,
			RecordLimit limit) {
		this.buffer = new BodyBuffer(body, limit);
		this.limit = limit;
		this.defaultOperation = defaultOperation;
		this.mapping = mapping;
		this.syntax = syntax;
		this.scanner = new CsvScanner(syntax);
		this.cells = cells();
	}

	private CsvCells cells() {
		return new CsvCells(this.syntax, this.mapping.nulls() == Nulls.EMPTY, this.limit);
	}

	@Override
	public boolean read(Record record) throws IOException {
		CsvColumns last = this.columns;
		if (last != null && last.hasNext()) {
			record.begin(this.rowLine);
			last.fill(record, this.cells);
			return true;
		}
		this.buffer.beginRecord();
		CsvColumns known = columns();
		if (this.inOversizedRow) {
			skipRow();
		}
		int end = findRow();
		while (end != this.buffer.start() || !isEnd(end)) {
			if (readRow(record, known, end)) {
				return true;
			}
			end = findRow();
		}
		return false;
	}

	/**
	 * Reads the row that was found.
	 * @param end the byte after the row, or {@link #OVERSIZED}
	 * @return {@code false} if it makes no record
	 */
	private boolean readRow(Record record, CsvColumns known, int end) throws IOException {
		boolean makesRecord = true;
		record.copyRaw(this.buffer.bytes(), this.buffer.start(),
				(end == OVERSIZED) ? this.buffer.end() : contentEnd(end));
		this.rowLine = this.line;
		if (isOversized(end)) {
			this.limit.refuse(record, this.line);
			known.skip();
		}
		else {
			long quoted = this.cells.quotedCells();
			this.cells.split(this.buffer.bytes(), this.buffer.start(), contentEnd(end), known.maxKeptCells());
			if (this.cells.hasBackslashQuote()) {
				throw lost("a quote after a backslash ends a cell, and the cell seems to go on, so that the"
						+ " beginning of the next row is not certain: write \"\" for a quote in quotes, or say what a"
						+ " backslash means: escape=quotes for files of Spark, DuckDB and COPY … CSV ESCAPE '\\',"
						+ " escape=backslash for files of MySQL and MariaDB. PHP's fputcsv writes CSV with escape: ''"
						+ " alone (line " + this.line + ")");
			}
			this.quotedLine = (quoted == 0 && this.cells.quotedCells() > 0) ? this.line : this.quotedLine;
			boolean first = this.firstRow;
			makesRecord = known.begin(this.cells,
					(repeatsHeader(end)) ? REPEATED_HEADER : (first && this.cells.areDashes()) ? DASHES : null);
			if (makesRecord) {
				record.begin(this.line);
				known.fill(record, this.cells);
			}
		}
		if (end == OVERSIZED) {
			this.inOversizedRow = true;
			this.buffer.consume(this.buffer.end());
		}
		else {
			consumeRow(end);
		}
		return makesRecord;
	}

	/**
	 * Whether a row is the header once more: that of a file which was put after another,
	 * or of one whose columns the request has named. One cell may well be a word like it.
	 */
	private boolean repeatsHeader(int end) throws MalformedBodyException {
		CsvHeader names = this.names;
		boolean first = this.firstRow;
		boolean apart = this.afterEmptyRow;
		this.firstRow = false;
		this.afterEmptyRow = false;
		if (names == null || this.mapping.header().kind() == Header.Kind.ABSENT) {
			return false;
		}
		if (names.names().size() == 1) {
			return first && this.mapping.header().kind() == Header.Kind.NAMED && names.isRepeatedBy(this.cells);
		}
		if (!names.mayBeginWith(this.cells) && !apart) {
			return false;
		}
		if (this.cells.kept() < this.cells.count()) {
			this.cells.split(this.buffer.bytes(), this.buffer.start(), contentEnd(end), CsvHeader.MAX_COLUMNS);
		}
		if (names.isRepeatedBy(this.cells)) {
			return true;
		}
		if (names.isOrderedBy(this.cells) || (apart && names.isNamedBy(this.cells))) {
			throw lost("line " + this.line + " has names of columns, and not as the header has them: another table"
					+ " begins there, whose cells are those of other columns. Post each table by itself");
		}
		return false;
	}

	@Override
	public @Nullable Map<String, String> rowSettings() {
		Header given = this.mapping.header();
		byte[] header = this.header;
		if (!given.isAbsent() && header == null) {
			return null;
		}
		Map<String, String> settings = new LinkedHashMap<>();
		if (given.kind() == Header.Kind.ABSENT) {
			settings.put("header", String.valueOf(given.text()));
		}
		else if (given.kind() == Header.Kind.NAMED) {
			settings.put("header", Names.format(given.names()));
		}
		else {
			CsvCells cells = cells();
			cells.split(Objects.requireNonNull(header).clone(), 0, header.length, CsvHeader.MAX_COLUMNS);
			settings.put("header", Names.format(CsvHeader.of(cells, this.syntax).names()));
		}
		settings.put("delimiter", (this.syntax.delimiter() == '\t') ? "tab" : String.valueOf(this.syntax.delimiter()));
		return settings;
	}

	@Override
	public List<Notice> notices() {
		CsvColumns columns = this.columns;
		List<Notice> notices = new ArrayList<>((columns != null) ? columns.notices() : List.of());
		if (this.otherLineEnds > 0) {
			notices
				.add(new Notice("MIXED_LINE_ENDS", "The first line ends with " + ((this.bareLineFeeds) ? "LF" : "CRLF")
						+ ". Rows that end with " + ((this.bareLineFeeds) ? "CRLF" : "LF") + ": " + this.otherLineEnds
						+ ((this.bareLineFeeds && this.syntax.escapesAll()) ? ". Their CR is the end of the last cell."
								: (this.bareLineFeeds) ? ". Their CR is no data." : "."),
						this.otherLineEnds, this.otherLine));
		}
		long quoted = this.cells.quotedCells();
		if (quoted > 0 && this.syntax.delimiter() == '\t' && !this.syntax.escapesAll()) {
			notices
				.add(new Notice("QUOTED_CELLS",
						"Cells that begin and end with a quote, which TSV has as data: " + quoted + "."
								+ " Excel's tab-delimited text is text/csv with delimiter=tab.",
						quoted, this.quotedLine));
		}
		return notices;
	}

	@Override
	public long leftOut() {
		CsvColumns columns = this.columns;
		return (columns != null) ? columns.leftOut() : 0;
	}

	@Override
	public double consumed() {
		return this.buffer.consumed();
	}

	private CsvColumns columns() throws IOException {
		if (this.lost != null) {
			throw this.lost;
		}
		CsvColumns known = this.columns;
		if (known == null) {
			this.buffer.skipByteOrderMark();
			readDelimiter();
			known = readHeader();
			this.columns = known;
		}
		return known;
	}

	/**
	 * Reads the delimiter from a first line such as {@code sep=;}, which Excel writes and
	 * reads.
	 */
	private void readDelimiter() throws IOException {
		if (!this.syntax.quotes() || !this.buffer.begins("sep=")) {
			return;
		}
		int end = scanRow();
		if (end == OVERSIZED || contentEnd(end) != this.buffer.start() + 5) {
			return;
		}
		byte delimiter = this.buffer.bytes()[this.buffer.start() + 4];
		if (delimiter > 0 && delimiter != '"') {
			this.syntax = this.syntax.separatedBy((char) delimiter);
			noteLineEnd(end);
			consumeRow(end);
			this.scanner = new CsvScanner(this.syntax);
			this.cells = cells();
		}
	}

	private CsvColumns readHeader() throws IOException {
		Header given = this.mapping.header();
		if (given.kind() == Header.Kind.NAMED) {
			return createColumns(new CsvHeader(given.names(), given.names().size(), this.syntax), "");
		}
		int end = findRow();
		if (end == this.buffer.start() && !(given.isAbsent() && isEnd(end))) {
			throw lost("the body is empty: expected a header row that names the columns");
		}
		if (isOversized(end)) {
			throw lost(
					"the header row is larger than " + this.limit.bytes() + " bytes (pipeset.limits.max-record-bytes)");
		}
		int to = contentEnd(end);
		int length = to - this.buffer.start();
		if (given.isAbsent()) {
			byte[] copy = Arrays.copyOfRange(this.buffer.bytes(), this.buffer.start(), to);
			this.cells.split(copy, 0, length, CsvHeader.MAX_COLUMNS);
			// Of an empty body, it does not matter how many columns it would have.
			int columns = (length == 0) ? CsvHeader.MAX_COLUMNS : this.cells.count();
			return createColumns(CsvHeader.withoutNames(columns, this.syntax), "");
		}
		if (length <= RowItem.MAX_SETTINGS) {
			this.limit.memory().reserve(length);
			this.header = Arrays.copyOfRange(this.buffer.bytes(), this.buffer.start(), to);
		}
		this.cells.split(this.buffer.bytes(), this.buffer.start(), to, CsvHeader.MAX_COLUMNS);
		if (this.cells.fault() != null) {
			throw lost("the header row is not CSV: " + this.cells.fault());
		}
		// The names need memory as texts briefly, and as bytes until the last row.
		long names = 3L * length + (long) NAME_BYTES * Math.min(this.cells.count(), CsvHeader.MAX_COLUMNS);
		this.limit.memory().reserve(names);
		CsvColumns columns = createColumns(CsvHeader.of(this.cells, this.syntax),
				(end == this.buffer.end()) ? "; " + FormatHints.KEEP_LINE_BREAKS : "");
		this.limit.memory().reserve(Math.max(0, columns.bytes() - names));
		this.limit.memory().release(Math.max(0, names - columns.bytes()));
		consumeRow(end);
		return columns;
	}

	private CsvColumns createColumns(CsvHeader header, String advice) throws MalformedBodyException {
		Templates templates = this.mapping.templates();
		String problem = (templates != null) ? header.check(templates) : header.check(this.defaultOperation);
		if (problem != null) {
			throw lost(problem + advice);
		}
		this.names = header;
		this.emptyRows = header.names().size() == 1 && !this.mapping.cells().nulls().isEmpty();
		CsvColumns columns = (templates != null)
				? new CsvColumns.Mapped(header.names().size(),
						new CsvRow(templates, this.mapping.nulls(), header, this.cells, this.limit))
				: header.columns(this.defaultOperation, this.mapping.nulls() == Nulls.DELETE);
		if (columns.maxArguments() > this.limit.arguments()) {
			throw lost("the header makes records of up to " + columns.maxArguments() + " arguments; "
					+ "pipeset.limits.max-arguments allows " + this.limit.arguments());
		}
		return columns;
	}

	/**
	 * Moves to the next row that is neither empty nor a remark.
	 * @return the index after its last byte; the start of the buffer at the end of the
	 * body, or of an empty row
	 */
	private int findRow() throws IOException {
		while (true) {
			String comment = this.mapping.cells().comment();
			if (comment != null && this.buffer.begins(blanks() + comment)) {
				skipComment();
				continue;
			}
			int end = scanRow();
			noteLineEnd(end);
			if (end == OVERSIZED || contentEnd(end) > this.buffer.start()) {
				return end;
			}
			if (isEnd(end)) {
				this.buffer.consume(end);
				return end;
			}
			if (this.emptyRows) {
				return end;
			}
			this.afterEmptyRow = true;
			consumeRow(end);
		}
	}

	/** The blanks at the beginning of a row, if cells are trimmed. */
	private String blanks() throws IOException {
		String blanks = "";
		while (this.mapping.cells().trim() && blanks.length() < MOST_BLANKS && this.buffer.begins(blanks + " ")) {
			blanks += " ";
		}
		return blanks;
	}

	/** Whether a row ends with the body, and not with a line feed. */
	private boolean isEnd(int end) {
		return end == this.buffer.end();
	}

	/** Passes over a row, in which a quote has no meaning. */
	private void skipComment() throws IOException {
		int newline;
		while ((newline = LineScanner.findLineFeed(this.buffer.bytes(), this.buffer.start(), this.buffer.end())) < 0) {
			this.buffer.consume(this.buffer.end());
			if (!this.buffer.fill()) {
				return;
			}
		}
		this.buffer.consume(newline + 1);
		this.line++;
	}

	/** Compares the end of a row with that of the first line, which says how rows end. */
	private void noteLineEnd(int end) {
		if (end == OVERSIZED || isEnd(end)) {
			return;
		}
		boolean bare = end == this.buffer.start() || this.buffer.bytes()[end - 1] != '\r';
		if (!this.firstLineEnded) {
			this.firstLineEnded = true;
			this.bareLineFeeds = bare;
		}
		else if (bare != this.bareLineFeeds) {
			this.otherLine = (this.otherLineEnds++ == 0) ? this.line : this.otherLine;
		}
	}

	private int scanRow() throws IOException {
		this.scanner.begin();
		int scanned = 0;
		int end;
		while ((end = this.scanner.scan(this.buffer.bytes(), this.buffer.start() + scanned, this.buffer.end())) < 0) {
			scanned = this.buffer.end() - this.buffer.start();
			// Allow one more byte, because it may be the \r of \r\n.
			if (scanned > this.limit.bytes() + 1L) {
				return OVERSIZED;
			}
			if (!this.buffer.fill()) {
				return this.buffer.end();
			}
		}
		return end;
	}

	private void skipRow() throws IOException {
		int end;
		while ((end = this.scanner.scan(this.buffer.bytes(), this.buffer.start(), this.buffer.end())) < 0) {
			this.buffer.consume(this.buffer.end());
			if (!this.buffer.fill()) {
				end = this.buffer.end();
				break;
			}
		}
		consumeRow(end);
		this.inOversizedRow = false;
	}

	private void consumeRow(int end) {
		this.line += this.scanner.lines() + 1;
		this.buffer.consume(Math.min(end + 1, this.buffer.end()));
	}

	private boolean isOversized(int end) {
		return end == OVERSIZED || contentEnd(end) - this.buffer.start() > this.limit.bytes();
	}

	private MalformedBodyException lost(String problem) {
		MalformedBodyException exception = new MalformedBodyException(this.buffer.offset(this.buffer.start()), problem);
		this.lost = exception;
		return exception;
	}

	/**
	 * The index after the last byte of a row. A carriage return at its end is data in
	 * files of MySQL, whose first line ends without one.
	 */
	private int contentEnd(int end) {
		boolean returns = end > this.buffer.start() && this.buffer.bytes()[end - 1] == '\r';
		if (returns && this.syntax.escapesAll() && this.firstLineEnded && this.bareLineFeeds) {
			boolean quoted = this.syntax.quotes() && end - 2 >= this.buffer.start()
					&& this.buffer.bytes()[end - 2] == '"';
			return (quoted) ? end - 1 : end;
		}
		return (returns) ? end - 1 : end;
	}

}
