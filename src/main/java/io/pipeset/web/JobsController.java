package io.pipeset.web;

import io.pipeset.job.Jobs;
import io.pipeset.job.settings.JobSettings;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** The call for jobs of any records. */
@RestController
class JobsController {

	private final Jobs jobs;

	private final SettingsReader settings;

	private final Uploads uploads;

	JobsController(Jobs jobs, SettingsReader settings, Uploads uploads) {
		this.jobs = jobs;
		this.settings = settings;
		this.uploads = uploads;
	}

	@PostMapping("/v1/jobs")
	ResponseEntity<Object> run(HttpServletRequest request) {
		JobSettings settings = this.settings.read(Query.of(request), "/v1/jobs", null);
		return Reports.answer(this.jobs.run(this.uploads.open(request, null), settings, Jobs.Values.IN_ITEMS), request);
	}

}
