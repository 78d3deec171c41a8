package io.pipeset.web.source;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import org.springframework.test.context.DynamicPropertyRegistry;

/** A database of the tests, which a test fills, and asks what is in it. */
abstract class TestDatabase implements AutoCloseable {

	static final String PASSWORD = "secretpassword";

	abstract String url();

	abstract String user();

	/** Names this database in the properties of queries. */
	void addTo(DynamicPropertyRegistry properties, String... queries) {
		for (String query : queries) {
			properties.add("pipeset.sources.queries." + query + ".url", this::url);
			properties.add("pipeset.sources.queries." + query + ".username", this::user);
			properties.add("pipeset.sources.queries." + query + ".password", () -> PASSWORD);
		}
	}

	abstract Connection connect() throws SQLException;

	void run(String... statements) {
		try (Connection connection = connect(); Statement statement = connection.createStatement()) {
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
		try (Connection connection = connect();
				Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery(sql)) {
			return (rows.next()) ? String.valueOf(rows.getString(1)) : "";
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public abstract void close();

}
