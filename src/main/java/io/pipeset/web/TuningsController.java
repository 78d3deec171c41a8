package io.pipeset.web;

import java.io.IOException;

import io.pipeset.keyspace.tuning.TuningProperties;
import io.pipeset.keyspace.tuning.TuningSettings;
import io.pipeset.keyspace.tuning.Tunings;
import io.pipeset.report.JobKind;
import io.pipeset.request.Client;
import io.pipeset.request.Client.Right;
import io.pipeset.request.JobDefaults;
import io.pipeset.request.Setting;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.CallerConnection;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.web.bind.annotation.RestController;

/** The call that finds the best settings for jobs by measuring. */
@RestController
class TuningsController {

	private static final String DISABLED = "Tunings are switched off here (pipeset.tuning.enabled=false), because they"
			+ " load Redis as fast as they can";

	private final Tunings tunings;

	private final TuningProperties properties;

	private final JobDefaults defaults;

	private final Reports reports;

	private final AsyncJobs async;

	TuningsController(Tunings tunings, TuningProperties properties, JobDefaults defaults, Reports reports,
			AsyncJobs async) {
		this.tunings = tunings;
		this.properties = properties;
		this.defaults = defaults;
		this.reports = reports;
		this.async = async;
	}

	@CallMapping(Call.TUNE)
	void tune(HttpServletRequest request, HttpServletResponse response) throws IOException {
		if (!this.properties.enabled()) {
			throw Problems.exception(Problem.DISABLED, DISABLED);
		}
		Client client = CurrentClient.get();
		client.require(Right.TUNINGS);
		Query query = Query.of(request);
		TuningSettings settings = TuningSettings.read(query::take, this.properties, this.defaults);
		query.refuseRest(TuningSettings.all().stream().map(Setting::name).toList());
		Uploads.refuseBodyAndKey(request);
		if (AsyncJobs.isRequested(request)) {
			this.async.begin(client, response, (caller) -> this.tunings.run(client, settings, caller));
			return;
		}
		this.reports.answer(this.tunings.run(client, settings, CallerConnection.of(request)), JobKind.TUNING, request,
				response);
	}

}
