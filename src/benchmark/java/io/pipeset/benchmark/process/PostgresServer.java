package io.pipeset.benchmark.process;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

/** The PostgreSQL of the tests, whose user needs no password. */
public final class PostgresServer implements AutoCloseable {

	/** The only user, and the name of the database. */
	public static final String USER = "postgres";

	private final EmbeddedPostgres server;

	private PostgresServer(EmbeddedPostgres server) {
		this.server = server;
	}

	/**
	 * Starts a PostgreSQL on a port of its own.
	 * @return the server, to be closed by the caller
	 */
	public static PostgresServer start() {
		try {
			return new PostgresServer(EmbeddedPostgres.builder().setPGStartupWait(Duration.ofMinutes(1)).start());
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot start PostgreSQL", ex);
		}
	}

	public int port() {
		return this.server.getPort();
	}

	/**
	 * The address of its database.
	 * @return for JDBC, the user included
	 */
	public String url() {
		return "jdbc:postgresql://" + Address.HOST + ":" + port() + "/" + USER + "?user=" + USER;
	}

	/**
	 * Runs statements, each in a transaction of its own.
	 * @param statements in SQL
	 */
	public void run(String... statements) {
		try (Connection connection = this.server.getPostgresDatabase().getConnection();
				Statement statement = connection.createStatement()) {
			for (String sql : statements) {
				statement.execute(sql);
			}
		}
		catch (SQLException ex) {
			throw new BenchmarkException("PostgreSQL failed", ex);
		}
	}

	@Override
	public void close() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot stop PostgreSQL", ex);
		}
	}

}
