package io.pipeset.web;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;

import io.pipeset.input.JobInput;
import io.pipeset.input.StoredBytes;
import io.pipeset.input.source.QuerySources;
import io.pipeset.input.source.UrlBody;
import io.pipeset.input.source.UrlSources;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.request.Client;
import io.pipeset.request.JobSettings;
import io.pipeset.request.Setting;
import io.pipeset.run.JobRequest.Values;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.web.bind.annotation.RestController;

/**
 * Handles the call that runs records of any operation, from its body or from elsewhere.
 */
@RestController
class JobsController {

	/** The parameters that are no settings of all jobs. */
	static final List<Setting<?>> PARAMETERS = Stream
		.of(SweepQuery.PARAMETERS, UrlQuery.PARAMETERS, RowsQuery.PARAMETERS)
		.flatMap(List::stream)
		.distinct()
		.toList();

	private static final String[] NAMES = PARAMETERS.stream().map(Setting::name).toArray(String[]::new);

	private final SettingsReader settings;

	private final Uploads uploads;

	private final RecordCalls calls;

	private final UrlSources urls;

	private final QuerySources queries;

	JobsController(SettingsReader settings, Uploads uploads, RecordCalls calls, UrlSources urls, QuerySources queries) {
		this.queries = queries;
		this.settings = settings;
		this.uploads = uploads;
		this.calls = calls;
		this.urls = urls;
	}

	@CallMapping(Call.RUN_JOB)
	void run(HttpServletRequest request, HttpServletResponse response) throws IOException {
		Query query = Query.of(request);
		String from = Setting.FROM.take(query::take).orElse("body");
		if (from.equals("url")) {
			runUrl(query, request, response);
			return;
		}
		Records records = switch (from) {
			case "scan" -> sweep(query, request);
			case "query" -> rows(query, request);
			default -> upload(query, request);
		};
		this.calls.run(records.input, records.settings, Values.IN_ITEMS, request, response);
	}

	private Records upload(Query query, HttpServletRequest request) {
		refuseParametersOfSources(query);
		Uploads.refuseForeignSettings(query, RecordFormat.of(Uploads.mediaType(request)), true);
		JobSettings settings = this.settings.read(query, Call.RUN_JOB.path(), null, NAMES);
		return new Records(this.uploads.open(request, CurrentClient.get(), settings.records().mapping(), null),
				settings);
	}

	private static void refuseParametersOfSources(Query query) {
		for (Setting<?> row : PARAMETERS) {
			if (query.has(row.name())) {
				throw Problems.exception(Problem.INVALID_SETTING, "'" + row.name() + "' has a meaning only with "
						+ Setting.callsOf(row.name()).get(0).replaceFirst(".*\\?", ""));
			}
		}
	}

	private Records sweep(Query query, HttpServletRequest request) {
		SweepQuery sweep = SweepQuery.take(query);
		Uploads.refuseForeignSettings(query, null, false);
		JobSettings settings = this.settings.read(query, Setting.SWEEP, null, SweepQuery.NAMES);
		return new Records(sweep.open(request, settings, CurrentClient.get()), settings);
	}

	private void runUrl(Query query, HttpServletRequest request, HttpServletResponse response) throws IOException {
		UrlQuery url = UrlQuery.take(query);
		Client client = CurrentClient.get();
		url.check(request, this.urls, client);
		JobSettings settings = this.settings.read(query, Call.RUN_JOB.path(), null, UrlQuery.NAMES);
		this.calls.runFetched(() -> open(url, settings, request, client), settings, request, response);
	}

	private JobInput open(UrlQuery url, JobSettings settings, HttpServletRequest request, Client client) {
		UrlBody body = url.open(this.urls, client);
		boolean opened = false;
		try {
			RecordFormat format = (url.format() != null) ? url.format() : Uploads.format(body);
			Uploads.refuseForeignSettings(Query.of(request), format, true);
			if (settings.records().replace() != null && !body.hasEnd()) {
				throw Problems.exception(Problem.SOURCE_FAILED, "The server names no length of the resource, so that a"
						+ " part of it may be missing, and 'replace' would remove its keys. Nothing was run");
			}
			StoredBytes resource = this.urls.stored(body.version());
			this.urls.require(client, resource);
			JobInput input = UrlQuery.fetch(() -> Uploads.open(body, resource, format, settings.records().mapping(),
					AsyncJobs.isRequested(request), url.limit()));
			opened = true;
			return input;
		}
		finally {
			if (!opened) {
				body.close();
			}
		}
	}

	private Records rows(Query query, HttpServletRequest request) {
		Client client = CurrentClient.get();
		RowsQuery rows = RowsQuery.take(query, this.queries.of(client));
		Uploads.refuseForeignSettings(query, RecordFormat.NDJSON, true);
		JobSettings settings = this.settings.read(query, Call.RUN_JOB.path(), null, RowsQuery.NAMES);
		return new Records(rows.open(request, settings, this.queries, client), settings);
	}

	/** The records of a call, and how they are run. */
	private record Records(JobInput input, JobSettings settings) {

	}

}
