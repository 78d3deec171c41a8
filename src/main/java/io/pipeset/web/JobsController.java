package io.pipeset.web;

import java.io.IOException;

import io.pipeset.job.EndedJob;
import io.pipeset.job.JobPlace;
import io.pipeset.job.Jobs;
import io.pipeset.job.input.JobInput;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.record.Effect;
import io.pipeset.record.Operation;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.web.server.CallerConnection;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** The call for jobs of any records. */
@RestController
class JobsController {

	private final Jobs jobs;

	private final JobPlace place;

	private final SettingsReader settings;

	private final Uploads uploads;

	private final Reports reports;

	private final AsyncJobs async;

	JobsController(Jobs jobs, JobPlace place, SettingsReader settings, Uploads uploads, Reports reports,
			AsyncJobs async) {
		this.jobs = jobs;
		this.place = place;
		this.settings = settings;
		this.uploads = uploads;
		this.reports = reports;
		this.async = async;
	}

	@PostMapping("/v1/jobs")
	void run(HttpServletRequest request, HttpServletResponse response) throws IOException {
		Query query = Query.of(request);
		SweepQuery sweep = SweepQuery.take(query);
		Uploads.refuseForeign(query, request, sweep == null);
		JobSettings settings = this.settings.read(query, "/v1/jobs", null, SweepQuery.NAMES);
		JobInput input = (sweep != null) ? sweep.open(request, settings)
				: this.uploads.open(request, settings.mapping(), null);
		if (AsyncJobs.isAsked(request)) {
			Operation operation = settings.operation();
			if (operation != null && settings.only() && operation.effect() == Effect.POP && !settings.dryRun()) {
				throw AsyncJobs.popRefused("op=" + operation);
			}
			this.async.begin(input, request, response,
					(records, caller) -> this.jobs.run(this.place, records, settings, Jobs.Values.IN_ITEMS, caller));
			return;
		}
		EndedJob<JobReport> ended = this.jobs.run(this.place, input, settings, Jobs.Values.IN_ITEMS,
				CallerConnection.of(request));
		this.reports.answer(ended, JobKind.RECORDS, request, response);
	}

}
