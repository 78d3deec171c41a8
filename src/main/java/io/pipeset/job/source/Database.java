package io.pipeset.job.source;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.pipeset.job.input.SourceException;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.namedparam.AbstractSqlParameterSource;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterUtils;
import org.springframework.jdbc.core.namedparam.ParsedSql;

/** A query and its connections, which are opened when the first job needs one. */
final class Database {

	private static final long MIN_CONNECTION_TIMEOUT_MILLIS = 250;

	private static final Duration IDLE_TIME = Duration.ofMinutes(1);

	/** How many rows PostgreSQL's driver fetches first, when their size is unknown. */
	private static final int FIRST_ROWS = 10;

	/**
	 * The database finds the types of parameters by their places. A statement is not kept
	 * for the next job, because the columns of its tables may have changed. The driver
	 * fetches as many rows together as this buffer can hold of the largest one so far.
	 */
	private static final Map<String, String> POSTGRES = Map.of("stringtype", "unspecified", "prepareThreshold", "0",
			"preparedStatementCacheQueries", "0", "maxResultBuffer", "16M", "adaptiveFetch", "true",
			"defaultRowFetchSize", String.valueOf(FIRST_ROWS));

	private final String name;

	private final String url;

	private final SourceProperties.Query query;

	private final ParsedSql sql;

	private final List<String> parameters;

	private final Duration timeout;

	private @Nullable HikariDataSource pool;

	/**
	 * A query.
	 * @param timeout how long a job waits for a connection
	 */
	Database(String name, String url, SourceProperties.Query query, String sql, Duration timeout) {
		this.name = name;
		this.url = url;
		this.query = query;
		this.sql = NamedParameterUtils.parseSqlStatement(sql);
		this.timeout = timeout;
		Set<String> names = new LinkedHashSet<>();
		NamedParameterUtils.buildValueArray(this.sql, new AbstractSqlParameterSource() {

			@Override
			public boolean hasValue(String parameter) {
				return true;
			}

			@Override
			public Object getValue(String parameter) {
				names.add(parameter);
				return "";
			}

		}, null);
		this.parameters = List.copyOf(names);
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

	/** Takes a connection. */
	Connection connect() throws SQLException, SourceException {
		try {
			return pool().getConnection();
		}
		catch (RuntimeException ex) {
			throw failure("there is no connection", ex);
		}
	}

	/**
	 * Prepares the query, so that its rows come through a cursor in a transaction that
	 * only reads.
	 * @param values the values of its parameters, as texts that the database converts
	 */
	PreparedStatement prepare(Connection connection, Map<String, String> values) throws SQLException {
		MapSqlParameterSource source = new MapSqlParameterSource(values);
		PreparedStatement statement = connection.prepareStatement(
				NamedParameterUtils.substituteNamedParameters(this.sql, source), ResultSet.TYPE_FORWARD_ONLY,
				ResultSet.CONCUR_READ_ONLY);
		statement.setFetchSize((isPostgres()) ? Math.min(FIRST_ROWS, fetchSize()) : fetchSize());
		statement.setQueryTimeout((int) Math.min(Integer.MAX_VALUE, (this.query.timeout().toMillis() + 999) / 1000));
		Object[] arguments = NamedParameterUtils.buildValueArray(this.sql, source, null);
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
			config.setReadOnly(true);
			config.setMinimumIdle(0);
			config.setMaximumPoolSize(this.query.maxConnections());
			config.setIdleTimeout(IDLE_TIME.toMillis());
			config.setConnectionTimeout(Math.max(MIN_CONNECTION_TIMEOUT_MILLIS, this.timeout.toMillis()));
			config.setInitializationFailTimeout(-1);
			if (isPostgres()) {
				config.addDataSourceProperty("adaptiveFetchMaximum", String.valueOf(fetchSize()));
				POSTGRES.forEach((name, value) -> {
					if (!this.url.contains(name + "=")) {
						config.addDataSourceProperty(name, value);
					}
				});
			}
			pool = new HikariDataSource(config);
			this.pool = pool;
		}
		return pool;
	}

	/** A failure for the caller, in which neither the password nor the URL shows. */
	SourceException failure(String what, Exception cause) {
		List<String> reasons = new ArrayList<>();
		for (Throwable next = cause; next != null; next = next.getCause()) {
			String message = (next.getMessage() != null) ? next.getMessage() : next.getClass().getSimpleName();
			if (reasons.stream().noneMatch((known) -> known.contains(message))) {
				reasons.add(message);
			}
		}
		String text = String.join(": ", reasons).replace(this.url, "the URL");
		for (String secret : secrets()) {
			text = text.replace(secret, "***");
		}
		return new SourceException(
				"The query '" + this.name + "' failed: " + what + ". " + text.replaceAll("\\s+", " "), cause);
	}

	/** The passwords that a message might quote. */
	private List<String> secrets() {
		List<String> secrets = new ArrayList<>();
		if (this.query.password() != null && !this.query.password().isEmpty()) {
			secrets.add(this.query.password());
		}
		for (String parameter : this.url.split("[?&;]", -1)) {
			String lower = parameter.toLowerCase(Locale.ROOT);
			if (lower.startsWith("password=") || lower.startsWith("pwd=")) {
				secrets.add(parameter.substring(parameter.indexOf('=') + 1));
			}
		}
		secrets.removeIf(String::isEmpty);
		return secrets;
	}

	synchronized void close() {
		HikariDataSource pool = this.pool;
		if (pool != null) {
			pool.close();
		}
	}

}
