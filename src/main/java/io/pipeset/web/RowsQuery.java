package io.pipeset.web;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.pipeset.input.JobInput;
import io.pipeset.input.QueriedRecords;
import io.pipeset.input.source.QuerySources;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.mapping.Templates;
import io.pipeset.request.Client;
import io.pipeset.request.JobSettings;
import io.pipeset.request.Setting;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.ErrorResponseException;

/**
 * The parameters of a job whose records are the rows of a query, from a query string.
 *
 * @param source the name of the query
 * @param values the values of the query's own parameters
 * @param limit the most records to read; {@code null} for all
 */
record RowsQuery(String source, Map<String, String> values, @Nullable Long limit) {

	static final List<Setting<?>> PARAMETERS = List.of(Setting.FROM, Setting.SOURCE, Setting.LIMIT);

	static final String[] NAMES = PARAMETERS.stream().map(Setting::name).toArray(String[]::new);

	/** The beginning of the parameters that are those of the query. */
	private static final String PREFIX = "param.";

	/**
	 * Takes the parameters, after {@code from}.
	 * @param known the queries that the client may use, with their parameters
	 * @throws ErrorResponseException if one is missing or unknown
	 */
	static RowsQuery take(Query query, Map<String, List<String>> known) {
		String source = Setting.SOURCE.take(query::take)
			.orElseThrow(() -> invalid(
					"'source' is missing: from=query needs the name of a query of" + " pipeset.sources.queries"));
		List<String> given = new ArrayList<>();
		query.rest().forEach((name) -> {
			if (name.startsWith(PREFIX)) {
				given.add(name);
			}
		});
		Map<String, String> values = new LinkedHashMap<>();
		for (String name : given) {
			values.put(name.substring(PREFIX.length()), String.valueOf(query.take(name)));
		}
		List<String> parameters = known.get(source);
		if (parameters != null) {
			check(source, parameters, values);
		}
		return new RowsQuery(source, values, Setting.LIMIT.take(query::take).orElse(null));
	}

	private static void check(String source, List<String> parameters, Map<String, String> values) {
		for (String parameter : parameters) {
			if (!values.containsKey(parameter)) {
				throw invalid("'" + PREFIX + parameter + "' is missing: the query '" + source + "' has the parameter :"
						+ parameter);
			}
		}
		for (String name : values.keySet()) {
			if (!parameters.contains(name)) {
				throw invalid("'" + PREFIX + Excerpt.of(name) + "' is no parameter of the query '" + source
						+ "'; it has " + ((parameters.isEmpty()) ? "none" : String.join(", ", parameters)));
			}
		}
	}

	/**
	 * Creates the input of the job. The query is sent when the job runs.
	 * @throws ErrorResponseException if the request has a body, or settings that do not
	 * fit
	 */
	JobInput open(HttpServletRequest request, JobSettings settings, QuerySources sources, Client client) {
		if (!Uploads.hasNoRecords(request)) {
			throw Problems.exception(Problem.UNEXPECTED_BODY, "With from=query the records are the rows of the query:"
					+ " send the request without a body and Content-Type, or the records without 'from'");
		}
		if (!sources.areEnabled()) {
			throw Problems.exception(Problem.DISABLED,
					"The service runs no queries: pipeset.sources.queries is not set");
		}
		Templates templates = settings.records().mapping().templates();
		if (templates == null) {
			throw invalid("'key' is missing: rows need a template, as in op=HSET&key=product:{sku}, or 'command'");
		}
		if (settings.records().mapping().rows().text() != null) {
			throw invalid("'rows' has a meaning only for JSON: rows of a query are rows already");
		}
		return new QueriedRecords(
				sources.open(client, this.source, this.values, templates, settings.records().mapping().nulls()),
				this.limit);
	}

	private static ErrorResponseException invalid(String detail) {
		return Problems.exception(Problem.INVALID_SETTING, detail);
	}

}
