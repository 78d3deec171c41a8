package io.pipeset.job.source;

import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ScheduledFuture;

import io.pipeset.job.input.FetchedBody;
import io.pipeset.job.input.SourceException;
import io.pipeset.record.mapping.Template;
import io.pipeset.record.mapping.Templates;
import io.pipeset.report.DurationText;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rows of a query, as a JSON object a line. The query is sent with the first read,
 * and its connection given back when the body is closed. One thread reads.
 */
final class QueryBody extends FetchedBody {

	private static final Logger logger = LoggerFactory.getLogger(QueryBody.class);

	/** Rows are written until there are so many bytes. */
	private static final int FULL = 64 << 10;

	private static final Duration CANCEL_PERIOD = Duration.ofMillis(200);

	/** A database that ends nothing for so long after a cancel is given up. */
	private static final Duration CANCEL_TIMEOUT = Duration.ofSeconds(5);

	private final Database database;

	private final Map<String, String> values;

	private final Templates templates;

	private volatile @Nullable Connection connection;

	private volatile @Nullable PreparedStatement statement;

	private volatile boolean aborted;

	private volatile boolean timedOut;

	private volatile boolean closed;

	private @Nullable ScheduledFuture<?> deadline;

	/** Cancels the query again and again, until the body is closed. */
	private @Nullable ScheduledFuture<?> canceller;

	/** Closes the connection of a database that does not answer to a cancel. */
	private @Nullable ScheduledFuture<?> breaker;

	private @Nullable ResultSet rows;

	private @Nullable RowWriter writer;

	private int position;

	private long read;

	private boolean ended;

	QueryBody(Database database, Map<String, String> values, Templates templates) {
		this.database = database;
		this.values = values;
		this.templates = templates;
	}

	/** The driver has the rest of the rows that it has fetched together. */
	@Override
	public int available() {
		RowWriter writer = this.writer;
		boolean fetched = this.read % Math.max(1, this.database.fetchSize()) != 0;
		return (writer == null || this.ended) ? 0 : Math.max(writer.json().length() - this.position, (fetched) ? 1 : 0);
	}

	@Override
	public int read(byte[] target, int offset, int length) throws IOException {
		RowWriter writer = open();
		JsonBuffer json = writer.json();
		if (this.position == json.length() && !this.ended) {
			json.clear();
			this.position = 0;
			fill(writer);
		}
		int bytes = Math.min(length, json.length() - this.position);
		if (bytes == 0 && length > 0) {
			return -1;
		}
		System.arraycopy(json.bytes(), this.position, target, offset, bytes);
		this.position += bytes;
		return bytes;
	}

	private void fill(RowWriter writer) throws SourceException {
		ResultSet rows = Objects.requireNonNull(this.rows);
		try {
			do {
				if (this.aborted || !rows.next()) {
					this.ended = true;
					break;
				}
				this.read++;
				writer.write(rows);
			}
			while (writer.json().length() < FULL && this.read % Math.max(1, this.database.fetchSize()) != 0);
		}
		catch (SQLException | RuntimeException ex) {
			throw failure("its rows could not be read to the end", ex);
		}
		if (this.aborted) {
			throw (this.timedOut) ? failure("", new SQLException()) : cancelled();
		}
	}

	private SourceException cancelled() {
		return new SourceException("The query '" + this.database.name() + "' was cancelled", null);
	}

	private RowWriter open() throws SourceException {
		RowWriter known = this.writer;
		if (known != null) {
			return known;
		}
		try {
			Connection connection = this.database.connect(() -> this.aborted);
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
			RowWriter writer = new RowWriter(rows.getMetaData(), this.templates);
			check(writer.names());
			this.writer = writer;
			return writer;
		}
		catch (SQLException | RuntimeException ex) {
			throw failure((this.connection != null) ? "it was not run" : "the database cannot be reached", ex);
		}
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
		if (columns.isEmpty()) {
			throw new SourceException("The query '" + this.database.name() + "' has no columns", null);
		}
		for (String name : this.templates.names()) {
			String other = this.templates.alternative(name);
			if (!isKnown(name, columns) && (other == null || !isKnown(other, columns))) {
				throw new SourceException(
						"The query '" + this.database.name() + "' has no column '" + name + "', which '"
								+ this.templates.settingOf(name) + "' names; it has " + String.join(", ", columns),
						null);
			}
		}
		for (String column : columns) {
			if (columns.indexOf(column) != columns.lastIndexOf(column) && this.templates.needs(column)) {
				throw new SourceException("The query '" + this.database.name() + "' has two columns '" + column
						+ "': give one of them another name by AS", null);
			}
		}
	}

	private static boolean isKnown(String name, List<String> columns) {
		return name.equals(Template.WHOLE) || name.startsWith("@")
				|| columns.stream().anyMatch((column) -> Templates.isPartOf(name, column));
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
			this.database.giveBack(connection, cancelled);
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
