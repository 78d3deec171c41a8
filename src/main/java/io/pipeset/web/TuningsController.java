package io.pipeset.web;

import io.pipeset.job.JobLimits;
import io.pipeset.job.settings.JobDefaults;
import io.pipeset.report.Ending.Cause;
import io.pipeset.tune.EndedTuning;
import io.pipeset.tune.TuningProperties;
import io.pipeset.tune.TuningSettings;
import io.pipeset.tune.Tunings;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.AnswerMemory;
import io.pipeset.web.server.CallerConnection;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** The call that finds the best settings for jobs by measuring. */
@RestController
class TuningsController {

	private static final String DISABLED = "Tunings are switched off here (pipeset.tuning.enabled=false), because they"
			+ " load Redis as fast as they can";

	private final Tunings tunings;

	private final TuningProperties properties;

	private final JobLimits limits;

	private final JobDefaults defaults;

	TuningsController(Tunings tunings, TuningProperties properties, JobLimits limits, JobDefaults defaults) {
		this.tunings = tunings;
		this.properties = properties;
		this.limits = limits;
		this.defaults = defaults;
	}

	@PostMapping("/v1/tunings")
	ResponseEntity<?> tune(HttpServletRequest request) {
		if (!this.properties.enabled()) {
			throw Problems.exception(HttpStatus.FORBIDDEN, "disabled", DISABLED);
		}
		Query query = Query.of(request);
		TuningSettings settings = TuningSettings.read(query::take, this.properties, this.limits, this.defaults);
		query.refuseRest(TuningSettings.NAMES);
		Uploads.refuse(request);
		EndedTuning tuning = this.tunings.run(settings, CallerConnection.of(request));
		AnswerMemory.closeWhenWritten(request, tuning.memory());
		if (tuning.ending().cause() == Cause.COMPLETED) {
			return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(tuning.report());
		}
		return Endings.problem(tuning.ending(), tuning.effective(), "tuning", tuning.report(), HttpHeaders.EMPTY,
				request);
	}

}
