package io.pipeset.input.source;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.pipeset.input.FetchedRows;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Templates;
import io.pipeset.request.Client;
import io.pipeset.request.JobRefusedException;
import io.pipeset.request.JobRefusedException.Reason;
import io.pipeset.request.RefusedAccessException;
import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.stereotype.Component;

/** The queries whose rows jobs may have. */
@Component
public class QuerySources {

	private static final String QUERIES = "pipeset.sources.queries";

	private static final int MAX_THREADS = 16;

	private final Map<String, Database> databases = new TreeMap<>();

	private final ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();

	/**
	 * Creates the queries from their properties. No database is reached yet.
	 * @throws RefusedAccessException if a property has a wrong value
	 */
	QuerySources(SourceProperties properties) {
		this.scheduler.setThreadNamePrefix("queries-");
		this.scheduler.setDaemon(true);
		// A cancel waits for its database, and must not delay those of others.
		this.scheduler.setPoolSize(1 + properties.queries()
			.values()
			.stream()
			.mapToInt((query) -> 2 * Math.max(1, Math.min(MAX_THREADS, query.maxConnections())))
			.sum());
		this.scheduler.initialize();
		properties.queries().forEach((name, query) -> {
			if (!name.matches("[a-z0-9][a-z0-9-]{0,62}")) {
				throw new RefusedAccessException(QUERIES + " has the name '" + name + "'.",
						"Name queries with 1 to 63 lower-case letters, digits and dashes.");
			}
			String property = QUERIES + "." + name;
			String url = require(property + ".url", query.url());
			if (!url.startsWith("jdbc:")) {
				throw new RefusedAccessException(property + ".url does not begin with jdbc:.",
						"Set a JDBC URL such as jdbc:postgresql://db.example/shop. The value is not shown because it may"
								+ " contain a password.");
			}
			if (query.maxConnections() < 1 || query.timeout().isNegative() || query.fetchSize() == 0) {
				throw new RefusedAccessException(
						property + " has max-connections below 1, a negative timeout, or a fetch-size of 0.",
						"Set max-connections and fetch-size to 1 or more, and timeout to 0s for no limit.");
			}
			this.databases.put(name, new Database(name, url, query, require(property + ".sql", query.sql()),
					properties.timeout(), this.scheduler));
		});
	}

	private static String require(String property, @Nullable String value) {
		if (value == null || value.isBlank()) {
			throw new RefusedAccessException(property + " is missing.",
					"A query needs url and sql, and mostly username and password.");
		}
		return value;
	}

	/** The queries that a client may use, with the names of their parameters. */
	public Map<String, List<String>> of(Client client) {
		Map<String, List<String>> queries = new LinkedHashMap<>();
		this.databases.forEach((name, database) -> {
			if (client.sources().hasQuery(name)) {
				queries.put(name, database.parameters());
			}
		});
		return queries;
	}

	/** Whether the service has any query. */
	public boolean areEnabled() {
		return !this.databases.isEmpty();
	}

	/**
	 * The rows of a query, which is not sent yet.
	 * @param name the name of a query that {@link #of} has for the client
	 * @param values the values of its parameters
	 * @param templates the templates that name its columns
	 * @param nulls the meaning of NULL
	 * @throws JobRefusedException if there is no such query, or the client may not use it
	 */
	public FetchedRows open(Client client, String name, Map<String, String> values, Templates templates, Nulls nulls) {
		Database database = this.databases.get(name);
		if (database == null) {
			Set<String> names = of(client).keySet();
			throw new JobRefusedException(Reason.NOT_FOUND, "There is no query '" + Excerpt.of(name) + "'; "
					+ "this client may use " + ((names.isEmpty()) ? "none" : String.join(", ", names)));
		}
		if (!client.sources().hasQuery(name)) {
			throw new JobRefusedException(Reason.FORBIDDEN, "The client '" + client + "' may not use the query '" + name
					+ "': " + client.property("sources") + " allows " + client.sources());
		}
		return new QueryRows(database, client, values, templates, nulls);
	}

	@PreDestroy
	void shutDown() {
		new ArrayList<>(this.databases.values()).forEach(Database::close);
		this.scheduler.shutdown();
	}

}
