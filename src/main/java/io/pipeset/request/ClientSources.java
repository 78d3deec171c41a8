package io.pipeset.request;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * From where the jobs of a client may have their records fetched, if the service allows
 * it too.
 *
 * @param queries the names of the queries; {@code null} for all
 */
public record ClientSources(UrlPrefixes urls, @Nullable Set<String> queries) {

	/** All URLs and queries of the service. */
	static final ClientSources ANY = new ClientSources(UrlPrefixes.ANY, null);

	/** Whether a job may have the rows of a query. */
	public boolean hasQuery(String name) {
		return this.queries == null || this.queries.contains(name);
	}

	@Override
	public String toString() {
		String all = Stream
			.concat((this.urls.isEmpty()) ? Stream.empty() : Stream.of(this.urls.toString()),
					(this.queries != null) ? this.queries.stream() : Stream.of("any query"))
			.collect(Collectors.joining(", "));
		return (all.isEmpty()) ? "none" : all;
	}

}
