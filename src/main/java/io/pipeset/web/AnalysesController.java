package io.pipeset.web;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.pipeset.keep.EndedJob;
import io.pipeset.keyspace.Analyses;
import io.pipeset.keyspace.Analysis;
import io.pipeset.keyspace.AnalysisSettings;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobKind;
import io.pipeset.request.Client;
import io.pipeset.request.Client.Right;
import io.pipeset.request.JobDefaults;
import io.pipeset.request.Setting;
import io.pipeset.web.server.CallerConnection;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.RestController;

/** Handles the call that analyses the keys of Redis. */
@RestController
class AnalysesController {

	private static final MediaType CSV = new MediaType("text", "csv", StandardCharsets.UTF_8);

	private final Analyses analyses;

	private final Duration timeout;

	private final Reports reports;

	private final AsyncJobs async;

	AnalysesController(Analyses analyses, JobDefaults defaults, Reports reports, AsyncJobs async) {
		this.analyses = analyses;
		this.reports = reports;
		this.async = async;
		this.timeout = defaults.toSettings().reliability().timeout();
	}

	@CallMapping(Call.ANALYSE)
	void run(HttpServletRequest request, HttpServletResponse response) throws IOException {
		Client client = CurrentClient.get();
		client.require(Right.ANALYSES);
		Query query = Query.of(request);
		AnalysisSettings settings = AnalysisSettings.of(query::take, this.timeout);
		query.refuseRest(AnalysisSettings.all().stream().map(Setting::name).toList());
		Uploads.refuseBodyAndKey(request);
		if (settings.rateLimit() != null) {
			client.requireRateLimit(settings.rateLimit());
		}
		if (AsyncJobs.isRequested(request)) {
			this.async.begin(client, response, (caller) -> this.analyses.run(client, settings, caller));
			return;
		}
		boolean csv = Accepted.isPreferred(CSV, request);
		EndedJob<Analysis> ended = this.analyses.run(client, settings, CallerConnection.of(request));
		if (csv && ended.ending().cause() == Cause.COMPLETED) {
			CallerConnection.closeWhenWritten(request, ended.memory());
			response.setHeader(HttpHeaders.LOCATION, JobIds.location(ended.id()));
			writeCsv(ended.report(), response);
		}
		else {
			this.reports.answer(ended, JobKind.ANALYSIS, request, response);
		}
	}

	/** Writes only the prefixes, because the totals do not fit into CSV lines. */
	private static void writeCsv(Analysis analysis, HttpServletResponse response) throws IOException {
		byte[] csv = PrefixesCsv.of(analysis);
		response.setContentType(CSV.toString());
		response.setContentLength(csv.length);
		Integer partial = analysis.partialSlots();
		if (partial != null) {
			response.setHeader("Pipeset-Partial-Slots", String.valueOf(partial));
		}
		response.getOutputStream().write(csv);
	}

}
