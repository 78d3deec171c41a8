package io.pipeset.input.source;

import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ScheduledFuture;

import io.pipeset.input.FetchedRows;
import io.pipeset.input.SourceException;
import io.pipeset.record.Notice;
import io.pipeset.record.Record;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Templates;
import io.pipeset.report.DurationText;
import io.pipeset.request.Client;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rows of a query, of which templates make records. The query is sent with the first
 * read, and its connection given back when the rows are closed. One thread reads.
 */
final class QueryRows implements FetchedRows {

	private static final Logger logger = LoggerFactory.getLogger(QueryRows.class);

	private static final Duration CANCEL_PERIOD = Duration.ofMillis(200);

	/** A database that ends nothing for so long after a cancel is given up. */
	private static final Duration CANCEL_TIMEOUT = Duration.ofSeconds(5);

	private final Database database;

	private final Map<String, String> values;

	private final Templates templates;

	private final Nulls nulls;

	private volatile @Nullable Connection connection;

	private volatile @Nullable PreparedStatement statement;

	private volatile boolean aborted;

	private volatile boolean timedOut;

	private volatile boolean closed;

	private @Nullable ScheduledFuture<?> deadline;

	/** Cancels the query again and again, until the rows are closed. */
	private @Nullable ScheduledFuture<?> canceller;

	/** Closes the connection of a database that does not answer to a cancel. */
	private @Nullable ScheduledFuture<?> breaker;

	private @Nullable ResultSet rows;

	private @Nullable SqlRow row;

	private @Nullable RecordLimit limit;

	private Wait wait = Wait.NONE;

	private long read;

	private boolean ended;

	private final Client client;

	QueryRows(Database database, Client client, Map<String, String> values, Templates templates, Nulls nulls) {
		this.client = client;
		this.database = database;
		this.values = values;
		this.templates = templates;
		this.nulls = nulls;
	}

	@Override
	public void begin(RecordLimit limit, Wait wait) {
		this.limit = limit;
		this.wait = wait;
	}

	@Override
	public boolean read(Record record) throws IOException {
		SqlRow row = open();
		while (!row.hasNext()) {
			if (!nextRow(row)) {
				return false;
			}
		}
		row.deliver(record);
		return true;
	}

	@Override
	public List<Notice> notices() {
		SqlRow row = this.row;
		return (row != null) ? row.notices() : List.of();
	}

	@Override
	public long leftOut() {
		SqlRow row = this.row;
		return (row != null) ? row.allLeftOut() : 0;
	}

	private boolean nextRow(SqlRow row) throws IOException {
		ResultSet rows = Objects.requireNonNull(this.rows);
		try {
			if (!this.ended && !this.aborted) {
				// The driver has the rest of the rows that it has fetched together.
				boolean fetched = this.read % Math.max(1, this.database.fetchSize()) != 0;
				this.ended = !((fetched) ? rows.next() : this.wait.during(rows::next));
			}
			if (!this.ended && !this.aborted) {
				this.read++;
				row.read(rows);
				return true;
			}
		}
		catch (SQLException | RuntimeException ex) {
			throw failure("its rows could not be read to the end", ex);
		}
		if (this.aborted) {
			throw (this.timedOut) ? failure("", new SQLException()) : cancelled();
		}
		return false;
	}

	private SourceException cancelled() {
		return new SourceException("The query '" + this.database.name() + "' was cancelled", null);
	}

	private SqlRow open() throws IOException {
		SqlRow known = this.row;
		if (known != null) {
			return known;
		}
		try {
			return this.wait.during(this::send);
		}
		catch (SQLException | RuntimeException ex) {
			throw failure((this.connection != null) ? "it was not run" : "the database cannot be reached", ex);
		}
	}

	private SqlRow send() throws SQLException, IOException {
		Connection connection = this.database.connect(this.client, () -> this.aborted);
		this.connection = connection;
		PreparedStatement statement = this.database.prepare(connection, this.values);
		this.statement = statement;
		if (this.aborted) {
			throw cancelled();
		}
		if (!this.database.queryTimeout().isZero()) {
			this.deadline = this.database.schedule(() -> {
				this.timedOut = true;
				abort();
			}, this.database.queryTimeout(), false);
		}
		ResultSet rows = statement.executeQuery();
		this.rows = rows;
		ResultSetMetaData metadata = rows.getMetaData();
		List<String> names = new ArrayList<>();
		for (int i = 1; i <= metadata.getColumnCount(); i++) {
			names.add(metadata.getColumnLabel(i));
		}
		check(names);
		SqlRow row = new SqlRow(metadata, names, this.templates, this.nulls, Objects.requireNonNull(this.limit));
		this.row = row;
		return row;
	}

	private SourceException failure(String what, Exception cause) {
		logger.debug("A query failed: {}", cause.getClass().getName());
		if (this.timedOut) {
			return new SourceException("The query '" + this.database.name() + "' took longer than its timeout of "
					+ DurationText.of(this.database.queryTimeout()), cause);
		}
		return this.database.failure(what, cause);
	}

	/** Checks that the columns have the names of the templates, once each. */
	private void check(List<String> columns) throws SourceException {
		String problem = problem(columns);
		if (problem != null) {
			throw new SourceException("The query '" + this.database.name() + "' " + problem, null);
		}
	}

	private @Nullable String problem(List<String> columns) {
		if (columns.isEmpty()) {
			return "has no columns";
		}
		String missing = this.templates.missingColumn(columns, columns.size());
		if (missing != null) {
			return missing + "; it has '" + String.join("', '", columns) + "'";
		}
		String braces = this.templates.problemOfBraces(columns::contains);
		if (braces != null) {
			return "has such a column, and a template " + braces;
		}
		for (String column : columns) {
			boolean needed = this.templates.mapsAllValues() || this.templates.names().contains(column);
			if (needed && columns.indexOf(column) != columns.lastIndexOf(column)) {
				return "has two columns '" + column + "': give one of them another name by AS";
			}
		}
		return null;
	}

	/**
	 * The query may not have been sent yet, or be between two fetches, when a cancel has
	 * no effect. So it is repeated until the reader has left.
	 */
	@Override
	public synchronized void abort() {
		this.aborted = true;
		if (this.canceller == null && !this.closed) {
			this.canceller = this.database.schedule(this::cancel, CANCEL_PERIOD, true);
			this.breaker = this.database.schedule(this::breakConnection, CANCEL_TIMEOUT, false);
		}
	}

	private void cancel() {
		PreparedStatement statement = this.statement;
		try {
			if (statement != null) {
				this.database.cancel(statement);
			}
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("A query could not be cancelled: {}", ex.getClass().getName());
		}
	}

	/** The reader is in a read that only the end of its connection ends. */
	private void breakConnection() {
		Connection connection = this.connection;
		try {
			if (connection != null) {
				connection.abort(Runnable::run);
			}
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("A connection could not be aborted: {}", ex.getClass().getName());
		}
	}

	/** Cancels a query that has not ended, and gives its connection back. */
	@Override
	public void close() {
		Connection connection;
		PreparedStatement statement;
		boolean aborted;
		synchronized (this) {
			connection = this.connection;
			statement = this.statement;
			aborted = this.canceller != null;
			this.closed = true;
			stop(this.canceller);
			stop(this.breaker);
			stop(this.deadline);
		}
		if (connection == null) {
			return;
		}
		if (!this.ended && !aborted) {
			cancel();
		}
		boolean cancelled = !this.ended || aborted;
		this.connection = null;
		this.statement = null;
		try {
			if (statement != null) {
				statement.close();
			}
		}
		catch (SQLException ex) {
			logger.debug("The statement of a query could not be closed: {}", ex.getClass().getName());
		}
		try {
			this.database.giveBack(this.client, connection, cancelled);
		}
		catch (SQLException ex) {
			logger.debug("The connection of a query could not be given back: {}", ex.getClass().getName());
		}
	}

	private static void stop(@Nullable ScheduledFuture<?> task) {
		if (task != null) {
			task.cancel(false);
		}
	}

	@Override
	public void addTo(Map<String, Object> report) {
		report.put("from", "query");
		report.put("source", this.database.name());
		this.values.forEach((name, value) -> report.put("param." + name, value));
	}

}
