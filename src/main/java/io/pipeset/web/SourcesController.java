package io.pipeset.web;

import java.util.List;

import io.pipeset.input.source.QuerySources;
import io.pipeset.input.source.UrlSources;
import io.pipeset.request.Client;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.web.bind.annotation.RestController;

/** Handles the call that lists the sources of records. */
@RestController
class SourcesController {

	private final UrlSources urls;

	private final QuerySources queries;

	SourcesController(UrlSources urls, QuerySources queries) {
		this.urls = urls;
		this.queries = queries;
	}

	@CallMapping(Call.LIST_SOURCES)
	SourceList list(HttpServletRequest request) {
		PlainRequest.require(request);
		Client client = CurrentClient.get();
		return new SourceList(this.urls.of(client),
				this.queries.of(client)
					.entrySet()
					.stream()
					.map((query) -> new QueryRow(query.getKey(), query.getValue()))
					.toList());
	}

	/**
	 * The URLs and queries that a client may load records from.
	 *
	 * @param urls prefixes of URLs
	 */
	record SourceList(List<String> urls, List<QueryRow> queries) {

	}

	/**
	 * A query.
	 *
	 * @param name its name, for the parameter {@code source}
	 * @param parameters the names of its own parameters
	 */
	record QueryRow(String name, List<String> parameters) {

	}

}
