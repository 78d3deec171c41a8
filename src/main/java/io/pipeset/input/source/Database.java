package io.pipeset.input.source;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ScheduledFuture;
import java.util.function.BooleanSupplier;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.pipeset.input.SourceException;
import io.pipeset.request.Client;
import io.pipeset.request.ClientPermits;
import io.pipeset.request.RefusedAccessException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.jdbc.core.namedparam.AbstractSqlParameterSource;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterUtils;
import org.springframework.jdbc.core.namedparam.ParsedSql;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** A query and its connections, which are opened when the first job needs one. */
final class Database {

	private static final Logger logger = LoggerFactory.getLogger(Database.class);

	private static final long MIN_CONNECTION_TIMEOUT_MILLIS = 250;

	private static final long MAX_CONNECTION_TIMEOUT_MILLIS = 5000;

	private static final Duration TICK = Duration.ofMillis(200);

	private static final Duration IDLE_TIME = Duration.ofMinutes(1);

	/** How many rows PostgreSQL's driver fetches first, when their size is unknown. */
	private static final int FIRST_ROWS = 10;

	/**
	 * PostgreSQL finds the types of parameters by their places. A statement is not kept
	 * for the next job, because the columns of its tables may have changed. The driver
	 * fetches as many rows together as its buffer can hold of the largest one so far.
	 * MariaDB's years are numbers.
	 */
	private static final Map<String, Map<String, String>> DRIVERS = Map.of("postgresql",
			Map.of("stringtype", "unspecified", "prepareThreshold", "0", "preparedStatementCacheQueries", "0",
					"maxResultBuffer", "16M", "adaptiveFetch", "true", "cancelSignalTimeout", "2",
					"defaultRowFetchSize", String.valueOf(FIRST_ROWS)),
			"mariadb", Map.of("yearIsDateType", "false"));

	private final String name;

	private final String url;

	private final SourceProperties.Query query;

	private final ParsedSql sql;

	/** The query with a question mark for each parameter. */
	private final String statement;

	private final List<String> parameters;

	private final Duration timeout;

	private final TaskScheduler scheduler;

	private final ClientPermits permits;

	private @Nullable HikariDataSource pool;

	/**
	 * A query.
	 * @param timeout how long a job waits for a connection
	 */
	Database(String name, String url, SourceProperties.Query query, String sql, Duration timeout,
			TaskScheduler scheduler) {
		this.scheduler = scheduler;
		this.permits = new ClientPermits(query.maxConnections(), "connections of the query '" + name + "'",
				"pipeset.sources.queries." + name + ".max-connections allows");
		this.name = name;
		this.url = url;
		this.query = query;
		HiddenTexts hidden = HiddenTexts.of(sql, url);
		this.sql = NamedParameterUtils.parseSqlStatement(hidden.sql());
		this.statement = hidden.restoreIn(NamedParameterUtils.substituteNamedParameters(this.sql, null));
		this.timeout = timeout;
		this.parameters = parameters(this.sql);
		String property = "pipeset.sources.queries." + name + ".sql has ";
		if (this.parameters.contains("?") || hidden.sql().matches("(?s).*(?<!\\?)\\?[|&].*")) {
			throw new RefusedAccessException(property + "a '?'.",
					"Name parameters, as in :since. Write ??, ??| and ??& for PostgreSQL's operators ?, ?| and ?&.");
		}
		for (String parameter : this.parameters) {
			if (!parameter.matches("[A-Za-z_]\\w*") || hidden.sql().contains("&" + parameter)) {
				throw new RefusedAccessException(
						property + "'" + parameter + "' after ':' or '&', which is no name of a parameter.",
						"Write \\: for a colon, as in tags[1\\:2], and a blank after &. A parameter is a colon, a"
								+ " letter, and letters, digits and _.");
			}
		}
	}

	/** The names of the parameters, and {@code ?} if there is one without a name. */
	private static List<String> parameters(ParsedSql sql) {
		Set<String> names = new LinkedHashSet<>();
		AbstractSqlParameterSource source = new AbstractSqlParameterSource() {

			@Override
			public boolean hasValue(String parameter) {
				return true;
			}

			@Override
			public Object getValue(String parameter) {
				names.add(parameter);
				return "";
			}

		};
		try {
			if (NamedParameterUtils.buildValueArray(sql, source, null).length > 0 && names.isEmpty()) {
				names.add("?");
			}
		}
		catch (InvalidDataAccessApiUsageException ex) {
			names.add("?");
		}
		return List.copyOf(names);
	}

	String name() {
		return this.name;
	}

	/** The names of the parameters, in their order. */
	List<String> parameters() {
		return this.parameters;
	}

	int fetchSize() {
		return this.query.fetchSize();
	}

	/**
	 * Takes a connection.
	 * @param client the client of the job, which leaves some connections to others
	 * @param aborted whether it is no longer needed
	 */
	Connection connect(Client client, BooleanSupplier aborted) throws SQLException, SourceException {
		long deadline = System.nanoTime() + this.timeout.toNanos();
		try {
			while (!this.permits.tryReserve(client, TICK.toMillis())) {
				if (aborted.getAsBoolean() || System.nanoTime() - deadline > 0) {
					throw new SourceException("The query '" + this.name + "' failed: other jobs use its connections. "
							+ this.permits.refusal(client), null);
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new SourceException("The query '" + this.name + "' was interrupted", ex);
		}
		boolean connected = false;
		try {
			Connection connection = readOnly(pool().getConnection());
			connected = true;
			return connection;
		}
		catch (RuntimeException ex) {
			throw failure("there is no connection", ex);
		}
		finally {
			if (!connected) {
				this.permits.leave(client);
			}
		}
	}

	/**
	 * Gives a connection back.
	 * @param cancelled whether a cancel was sent, which may come late and end the next
	 * query: the connection is closed
	 */
	void giveBack(Client client, Connection connection, boolean cancelled) throws SQLException {
		try {
			if (cancelled) {
				pool().evictConnection(connection);
			}
			else {
				connection.close();
			}
		}
		finally {
			this.permits.leave(client);
		}
	}

	/**
	 * Ends what a statement does now. PostgreSQL's driver ends a fetch only by its
	 * connection.
	 */
	void cancel(PreparedStatement statement) throws SQLException {
		if (isPostgres()) {
			Class<?> type = ClassUtils.resolveClassName("org.postgresql.PGConnection", null);
			Method cancel = ReflectionUtils.findMethod(type, "cancelQuery");
			ReflectionUtils.invokeMethod(Objects.requireNonNull(cancel), statement.getConnection().unwrap(type));
		}
		else {
			statement.cancel();
		}
	}

	/** Runs a task after some time, or again and again until it is cancelled. */
	ScheduledFuture<?> schedule(Runnable task, Duration delay, boolean again) {
		return (again) ? this.scheduler.scheduleWithFixedDelay(task, delay)
				: this.scheduler.schedule(task, Instant.now().plus(delay));
	}

	Duration queryTimeout() {
		return this.query.timeout();
	}

	/** DuckDB cannot be told for a connection that it only reads. */
	private static Connection readOnly(Connection connection) throws SQLException {
		try {
			connection.setReadOnly(true);
			return connection;
		}
		catch (SQLFeatureNotSupportedException ex) {
			return connection;
		}
		catch (SQLException | RuntimeException ex) {
			connection.close();
			throw ex;
		}
	}

	/**
	 * Prepares the query, so that its rows come through a cursor in a transaction that
	 * only reads.
	 * @param values the values of its parameters, as texts that the database converts
	 */
	PreparedStatement prepare(Connection connection, Map<String, String> values) throws SQLException {
		PreparedStatement statement = connection.prepareStatement(this.statement, ResultSet.TYPE_FORWARD_ONLY,
				ResultSet.CONCUR_READ_ONLY);
		statement.setFetchSize((isPostgres()) ? Math.min(FIRST_ROWS, fetchSize()) : fetchSize());
		Object[] arguments = NamedParameterUtils.buildValueArray(this.sql, new MapSqlParameterSource(values), null);
		for (int i = 0; i < arguments.length; i++) {
			statement.setString(i + 1, String.valueOf(arguments[i]));
		}
		return statement;
	}

	private boolean isPostgres() {
		return this.url.startsWith("jdbc:postgresql:");
	}

	private synchronized HikariDataSource pool() {
		HikariDataSource pool = this.pool;
		if (pool == null) {
			HikariConfig config = new HikariConfig();
			config.setPoolName("source-" + this.name);
			config.setJdbcUrl(this.url);
			config.setUsername(this.query.username());
			config.setPassword(this.query.password());
			config.setAutoCommit(false);
			config.setMinimumIdle(0);
			config.setMaximumPoolSize(this.query.maxConnections());
			config.setIdleTimeout(IDLE_TIME.toMillis());
			config.setConnectionTimeout(Math.max(MIN_CONNECTION_TIMEOUT_MILLIS,
					Math.min(MAX_CONNECTION_TIMEOUT_MILLIS, this.timeout.toMillis())));
			config.setInitializationFailTimeout(-1);
			if (isPostgres()) {
				config.addDataSourceProperty("adaptiveFetchMaximum", String.valueOf(fetchSize()));
			}
			DRIVERS.getOrDefault(this.url.split(":", 3)[1], Map.of()).forEach((name, value) -> {
				if (!this.url.contains(name + "=")) {
					config.addDataSourceProperty(name, value);
				}
			});
			pool = new HikariDataSource(config);
			this.pool = pool;
		}
		return pool;
	}

	/** A failure for the caller, in which neither the password nor the URL shows. */
	SourceException failure(String what, Exception cause) {
		List<String> reasons = new ArrayList<>();
		for (Throwable next = cause; next != null; next = next.getCause()) {
			String message = (next instanceof SQLException) ? String.valueOf(next.getMessage()) : "";
			if (!message.isEmpty() && reasons.stream().noneMatch((known) -> known.contains(message))) {
				reasons.add(message);
			}
		}
		String text = String.join(": ", reasons).replaceAll("jdbc:\\S+", "the URL").replaceAll("\\s+", " ");
		String password = this.query.password();
		if (password != null && !password.isEmpty() && text.contains(password)) {
			logger.warn("The query '{}' failed: {}", this.name, text.replace(password, "***"));
			text = "The reason is in the log, and not here, because it may contain the password";
		}
		return new SourceException("The query '" + this.name + "' failed: " + what
				+ ((text.isEmpty()) ? ", because of its driver or URL" : ". " + text), cause);
	}

	synchronized void close() {
		HikariDataSource pool = this.pool;
		if (pool != null) {
			pool.close();
		}
	}

}
