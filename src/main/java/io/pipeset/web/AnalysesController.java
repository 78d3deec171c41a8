package io.pipeset.web;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.List;

import io.pipeset.job.settings.JobDefaults;
import io.pipeset.job.settings.Setting;
import io.pipeset.keyspace.Analyses;
import io.pipeset.keyspace.Analysis;
import io.pipeset.keyspace.AnalysisSettings;
import io.pipeset.keyspace.EndedAnalysis;
import io.pipeset.report.Ending.Cause;
import io.pipeset.web.server.AnswerMemory;
import io.pipeset.web.server.CallerConnection;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.HttpHeaders;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** The call that looks through a keyspace. */
@RestController
class AnalysesController {

	private static final MediaType CSV = new MediaType("text", "csv", StandardCharsets.UTF_8);

	private final Analyses analyses;

	private final Duration timeout;

	AnalysesController(Analyses analyses, JobDefaults defaults) {
		this.analyses = analyses;
		this.timeout = defaults.toSettings().timeout();
	}

	@PostMapping("/v1/analyses")
	ResponseEntity<?> run(HttpServletRequest request) {
		Query query = Query.of(request);
		AnalysisSettings settings = AnalysisSettings.of(query::take, this.timeout);
		query.refuseRest(AnalysisSettings.all().stream().map(Setting::name).toList());
		Uploads.refuse(request);
		boolean csv = wantsCsv(request);
		EndedAnalysis ended = this.analyses.run(settings, CallerConnection.of(request));
		AnswerMemory.closeWhenWritten(request, ended.memory());
		if (ended.ending().cause() != Cause.COMPLETED) {
			return Endings.problem(ended.ending(), false, "analysis", ended.analysis(), HttpHeaders.EMPTY, request);
		}
		if (csv) {
			return csv(ended.analysis());
		}
		return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(ended.analysis());
	}

	/** The prefixes only, whose lines have no place for what the whole answer says. */
	private static ResponseEntity<byte[]> csv(Analysis analysis) {
		ResponseEntity.BodyBuilder answer = ResponseEntity.ok().contentType(CSV);
		Integer partial = analysis.partialSlots();
		if (partial != null) {
			answer.header("Pipeset-Partial-Slots", String.valueOf(partial));
		}
		return answer.body(PrefixesCsv.of(analysis));
	}

	/** Whether CSV is asked for by its name, and more than JSON is. */
	private static boolean wantsCsv(HttpServletRequest request) {
		List<MediaType> accepted;
		try {
			accepted = MediaType.parseMediaTypes(Collections.list(request.getHeaders(HttpHeaders.ACCEPT)));
		}
		catch (InvalidMediaTypeException ex) {
			return false;
		}
		double csv = quality(accepted, CSV);
		double json = quality(accepted, MediaType.APPLICATION_JSON);
		return csv > 0 && csv >= json;
	}

	private static double quality(List<MediaType> accepted, MediaType named) {
		return accepted.stream()
			.filter((type) -> !type.isWildcardType() && type.includes(named))
			.mapToDouble(MediaType::getQualityValue)
			.max()
			.orElse(0);
	}

}
