package io.pipeset.web.server;

import io.pipeset.request.JobLimits;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Answers requests in which the servlet container itself has found an error. If a body
 * stalls, the container starts an error response before the job's report is ready. The
 * report is therefore kept with the request, and sent here.
 */
@RestController
public class ProblemErrorController implements ErrorController {

	private static final String REPORT = ProblemErrorController.class.getName() + ".report";

	private final JobLimits limits;

	ProblemErrorController(JobLimits limits) {
		this.limits = limits;
	}

	/** Keeps a report for the case that the container dispatches its request here. */
	public static void keep(HttpServletRequest request, ResponseEntity<ProblemDetail> report) {
		request.setAttribute(REPORT, report);
	}

	@RequestMapping("${spring.web.error.path:/error}")
	ResponseEntity<?> error(HttpServletRequest request) {
		if (request.getAttribute(REPORT) instanceof ResponseEntity<?> report) {
			return report;
		}
		Object code = request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE);
		HttpStatus status = (code instanceof Integer number) ? HttpStatus.valueOf(number) : HttpStatus.NOT_FOUND;
		Object message = request.getAttribute(RequestDispatcher.ERROR_MESSAGE);
		if (status == HttpStatus.REQUEST_TIMEOUT) {
			return Problems.answer(Problems.detail(Problem.STALLED, "Nothing of the body came for "
					+ this.limits.bodyIdleTimeout().toMillis() + "ms (pipeset.limits.body-idle-timeout)"));
		}
		if (LimitedBody.isChunkingBroken(request.getAttribute(RequestDispatcher.ERROR_EXCEPTION))) {
			return Problems.answer(Problems.detail(Problem.MALFORMED_BODY, "In the body, " + LimitedBody.BROKEN));
		}
		String detail = (message instanceof String text && !text.isEmpty()) ? text : status.getReasonPhrase();
		return Problems.answer(Problems.ofStatus(status, detail));
	}

}
