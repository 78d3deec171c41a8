package io.pipeset.input.source;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * From where the service may fetch records itself.
 *
 * @param urls prefixes of the URLs that jobs may name, such as
 * https://exports.s3.eu-central-1.amazonaws.com/. Without any, no job names a URL
 * @param timeout how long a source may give nothing, attempts to reach it again included,
 * before its job fails; from 1 ms
 * @param queries the queries that jobs may name, by their names of lower-case letters,
 * digits and dashes
 */
@ConfigurationProperties("pipeset.sources")
record SourceProperties(@DefaultValue List<String> urls, @DefaultValue("60s") Duration timeout,
		@DefaultValue Map<String, Query> queries) {

	SourceProperties {
		if (timeout.toMillis() < 1) {
			throw new IllegalArgumentException("pipeset.sources.timeout must be 1ms or more, not " + timeout);
		}
	}

	/**
	 * A query. Its values are checked where it is used first, because a binding error
	 * would quote the password.
	 *
	 * @param url the JDBC URL of the database, such as jdbc:postgresql://db.example/shop
	 * @param username the user of the database; {@code null} if the URL has it, or there
	 * is none
	 * @param password the password of the user; {@code null} for none
	 * @param sql a query with named parameters such as {@code :since}
	 * @param fetchSize how many rows the driver reads at once
	 * @param timeout how long the database may take for the whole query; 0 for no limit
	 * @param maxConnections the most jobs with this query that read at once; the others
	 * wait
	 */
	record Query(@Nullable String url, @Nullable String username, @Nullable String password, @Nullable String sql,
			@DefaultValue("1000") int fetchSize, @DefaultValue("0s") Duration timeout,
			@DefaultValue("2") int maxConnections) {

		/** Without the password, and the URL, which may have one. */
		@Override
		public String toString() {
			return "Query[sql=" + this.sql + "]";
		}

	}

}
