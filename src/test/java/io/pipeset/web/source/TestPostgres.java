package io.pipeset.web.source;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

/** A PostgreSQL of the tests. */
final class TestPostgres implements AutoCloseable {

	private final EmbeddedPostgres server;

	private TestPostgres(EmbeddedPostgres server) {
		this.server = server;
	}

	static TestPostgres start() {
		try {
			return new TestPostgres(EmbeddedPostgres.builder().setPGStartupWait(Duration.ofMinutes(1)).start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	String url() {
		return "jdbc:postgresql://127.0.0.1:" + this.server.getPort() + "/postgres";
	}

	void run(String... statements) {
		try (Connection connection = this.server.getPostgresDatabase().getConnection();
				Statement statement = connection.createStatement()) {
			for (String sql : statements) {
				statement.execute(sql);
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** The first value of the first row. */
	String ask(String sql) {
		try (Connection connection = this.server.getPostgresDatabase().getConnection();
				Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery(sql)) {
			return (rows.next()) ? String.valueOf(rows.getString(1)) : "";
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
