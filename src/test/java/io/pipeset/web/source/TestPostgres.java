package io.pipeset.web.source;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

/** A PostgreSQL of the tests. */
final class TestPostgres extends TestDatabase {

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

	@Override
	String url() {
		return "jdbc:postgresql://127.0.0.1:" + this.server.getPort() + "/postgres";
	}

	/** It needs no password, and takes any. */
	@Override
	String user() {
		return "postgres";
	}

	@Override
	Connection connect() throws SQLException {
		return this.server.getPostgresDatabase().getConnection();
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
