package io.pipeset.web;

import java.io.IOException;

import io.pipeset.job.input.JobInput;
import io.pipeset.job.run.Jobs;
import io.pipeset.job.settings.JobSettings;
import io.pipeset.job.settings.Setting;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.web.bind.annotation.RestController;

/** Handles the call that runs records of any operation, or a sweep. */
@RestController
class JobsController {

	private final SettingsReader settings;

	private final Uploads uploads;

	private final RecordCalls calls;

	JobsController(SettingsReader settings, Uploads uploads, RecordCalls calls) {
		this.settings = settings;
		this.uploads = uploads;
		this.calls = calls;
	}

	@CallMapping(Call.RUN_JOB)
	void run(HttpServletRequest request, HttpServletResponse response) throws IOException {
		Query query = Query.of(request);
		SweepQuery sweep = SweepQuery.take(query);
		Uploads.refuseForeignSettings(query, request, sweep == null);
		JobSettings settings = this.settings.read(query, (sweep != null) ? Setting.SWEEP : Call.RUN_JOB.path(), null,
				SweepQuery.NAMES);
		JobInput input = (sweep != null) ? sweep.open(request, settings, this.calls.client())
				: this.uploads.open(request, this.calls.client(), settings.mapping(), null);
		this.calls.run(input, settings, Jobs.Values.IN_ITEMS, request, response);
	}

}
